"""Posting messages to webhooks. Where a name leads is looked at for each connection, redirects are not followed, and of
an answer no more than its status is read: a company sees by it nothing that it could not reach itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from http import HTTPStatus

import httpx2
from django.conf import settings
from django.utils import timezone

from agents.adapters.public_addresses import NotPublicError, PublicTransport
from issues.models import Delivery, Webhook
from issues.sealing import Unsealable, unseal
from issues.services.deliveries import Answer
from issues.signatures import sign
from trimus.masking import mask

TOTAL_SECONDS = 15.0
"""Of one message, from resolving the name to the status of the answer."""

_TIMEOUTS = httpx2.Timeout(connect=5.0, read=10.0, write=10.0, pool=None)
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=0)


async def post_all(deliveries: Sequence[Delivery]) -> list[Answer]:
    """Post them at the same time; what became of each. Their webhook and body are at hand: nothing is read here."""
    async with _client() as client:
        return list(await asyncio.gather(*(_post(client, delivery) for delivery in deliveries)))


def _client() -> httpx2.AsyncClient:
    if settings.PRIVATE_WEBHOOK_URLS:
        return httpx2.AsyncClient(timeout=_TIMEOUTS, limits=_LIMITS, follow_redirects=False)
    transport = PublicTransport(_LIMITS)
    return httpx2.AsyncClient(timeout=_TIMEOUTS, transport=transport, follow_redirects=False, trust_env=False)


async def _post(client: httpx2.AsyncClient, delivery: Delivery) -> Answer:
    begun = time.monotonic()
    code, error, retry_after = None, "", None
    body = delivery.body.encode()
    try:
        headers = _headers(delivery, body)
        async with (
            asyncio.timeout(TOTAL_SECONDS),
            client.stream("POST", delivery.webhook.url, content=body, headers=headers) as response,
        ):
            code = response.status_code
            error = "" if response.is_success else _refused(response)
            retry_after = _retry_after(response)
    except Unsealable as broken:
        error = str(broken)
    except (TimeoutError, httpx2.TimeoutException):
        error = f"No answer within {TOTAL_SECONDS:.0f} s."
    except NotPublicError:
        error = "The address leads into the network of this server."
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as broken:
        error = mask(" ".join(str(broken).split())) or type(broken).__name__
    return Answer(delivery, round((time.monotonic() - begun) * 1_000), code, error, retry_after)


def _headers(delivery: Delivery, body: bytes) -> dict[str, str]:
    """Signed anew at each try, for the time of it. Raises Unsealable."""
    timestamp = int(timezone.now().timestamp())
    signatures = [
        sign(secret, uid=delivery.uid, timestamp=timestamp, body=body) for secret in _secrets(delivery.webhook)
    ]
    return {
        "Content-Type": "application/json",
        "User-Agent": "Trimus-Webhooks",
        "webhook-id": delivery.uid,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def _secrets(webhook: Webhook) -> list[str]:
    """The secret, and the one before it while that still counts."""
    secrets = [unseal(webhook.sealed_secret)]
    if webhook.old_secret_until is not None and webhook.old_secret_until > timezone.now():
        secrets.append(unseal(webhook.sealed_old_secret))
    return secrets


def _refused(response: httpx2.Response) -> str:
    if response.is_redirect:
        return f"{response.status_code}: redirects are not followed."
    try:
        return f"{response.status_code} {HTTPStatus(response.status_code).phrase}"
    except ValueError:
        return str(response.status_code)


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds that the receiver asks to be left alone, if it says so in seconds."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None
