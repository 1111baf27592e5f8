"""What must be true before an installation serves anyone but its own machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

# Django's own bar for a secret key (`security.W009`).
MINIMUM_KEY_LENGTH = 50
MINIMUM_KEY_CHARACTERS = 5


def is_loopback(host: str) -> bool:
    """Whether `host`, a bind address or an allowed host name, can only mean this machine."""
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_local_mode(bind_host: str, allowed_hosts: Iterable[str]) -> bool:
    """Whether nobody but this machine can use the installation.

    A server bound to loopback may still stand behind a proxy that the world reaches, but then it must
    answer to a public name; so both the bind address and every allowed host must be loopback.
    """
    return is_loopback(bind_host) and all(is_loopback(host) for host in allowed_hosts)


def unsafe_reasons(*, secret_key: str, debug: bool, allowed_hosts: Iterable[str]) -> list[str]:
    """Why these settings must not serve other machines, each with what mends it; empty when they may."""
    reasons = []
    if len(secret_key) < MINIMUM_KEY_LENGTH or len(set(secret_key)) < MINIMUM_KEY_CHARACTERS:
        reasons.append(
            "TRIMUS_SECRET_KEY is not set, or short: set it to at least 50 random characters"
            " (`python3 -c 'import secrets; print(secrets.token_urlsafe(48))'` prints some)."
        )
    if debug:
        reasons.append("DJANGO_DEBUG is on, and its error pages show settings and code: unset it.")
    names = list(allowed_hosts)
    if all(is_loopback(name) for name in names):
        reasons.append("TRIMUS_ALLOWED_HOSTS is not set: name the hosts people will open, comma-separated.")
    if any("*" in name or name.startswith(".") for name in names):
        reasons.append("TRIMUS_ALLOWED_HOSTS has a wildcard: name each host.")
    return reasons


def unsafe_encryption_keys(keys: Iterable[str]) -> str:
    """What is wrong with the keys that seal secrets; empty when nothing is. None of them is repeated."""
    if all(len(key) >= 32 and len(set(key)) >= MINIMUM_KEY_CHARACTERS for key in keys):
        return ""
    return (
        "TRIMUS_ENCRYPTION_KEYS has a key that is short: each needs at least 32 random characters"
        " (`python3 -c 'import secrets; print(secrets.token_urlsafe(32))'` prints some)."
    )
