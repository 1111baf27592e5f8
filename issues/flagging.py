"""Flagging secrets when a text is saved, so that people are told before somebody finds them."""

from __future__ import annotations

from django.conf import settings

from issues.secrets import find_secrets

MOST_SHOWN = 300
"""Characters for their names in a row's `secret_kinds`; a text with more kinds of secrets is told well enough."""


def secret_kinds(*texts: str) -> str:
    """What the texts hold of secrets, as a row's `secret_kinds`; empty if nothing."""
    kinds = ", ".join(find_secrets("\n".join(texts), settings.LLM.secrets))
    return kinds if len(kinds) <= MOST_SHOWN else kinds[:MOST_SHOWN].rpartition(", ")[0]
