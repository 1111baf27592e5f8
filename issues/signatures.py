"""Signing messages to webhooks as the Standard Webhooks convention (version 1) has it, so that receivers verify them
with a library they have already."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """A secret as receivers keep it: `whsec_` and 32 random bytes in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, *, uid: str, timestamp: int, body: bytes) -> str:
    """The signature of one message at one time, in seconds since 1970: `v1,` and HMAC-SHA256 in base64."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.new(key, f"{uid}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"
