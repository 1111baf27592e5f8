"""Flagging secrets when a text is saved, so that people are told before somebody finds them."""

from __future__ import annotations

from issues import listeners
from issues.models import Company
from issues.secrets import find_secrets, mask_secrets

MOST_SHOWN = 300
"""Characters for their names in a row's `secret_kinds`; a text with more kinds of secrets is told well enough."""


def secret_kinds(company: Company, *texts: str) -> str:
    """What the company's texts hold of secrets, as a row's `secret_kinds`; empty if nothing. Its own keys of models and
    those of the installation are known by their values, all others by their form."""
    kinds = ", ".join(find_secrets("\n".join(texts), _known_to(company)))
    return kinds if len(kinds) <= MOST_SHOWN else kinds[:MOST_SHOWN].rpartition(", ")[0]


def without_secrets(company: Company, text: str) -> str:
    """The text with each secret that would be flagged in it replaced by its kind."""
    return mask_secrets(text, _known_to(company))


def _known_to(company: Company) -> tuple[str, ...]:
    return tuple(secret for known in listeners.known_secrets for secret in known(company))
