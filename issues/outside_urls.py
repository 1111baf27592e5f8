"""Addresses of servers outside that a company names: what can be seen of them is checked when they are kept, what they
lead to when they are called."""

from __future__ import annotations

from urllib.parse import urlsplit

from issues.refusals import Invalid
from trimus.networks import may_be_public


def check_url(url: str, field: str, *, example: str, may_be_private: bool, allowed_by: str) -> str:
    """The address, if it is one that may be called. Invalid otherwise; `allowed_by` is the setting by which the
    operator allows addresses of the server's own network."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise Invalid("That is no http or https address.", f"Like {example}", field=field)
    if parts.username or parts.password or parts.fragment:
        raise Invalid("An address has no user, no password and no fragment.", f"Like {example}", field=field)
    if not may_be_private and not may_be_public(parts.hostname or ""):
        raise Invalid(
            "That address leads into the network of this server.",
            f"Its operator can allow that by {allowed_by}.",
            field=field,
        )
    return url
