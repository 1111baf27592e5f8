"""Secrets in plain text that this process has held, so that none of them gets into what it logs or tells."""

from __future__ import annotations

import threading

from issues.secrets import mask_known

_held: frozenset[str] = frozenset()
_holding = threading.Lock()


def hold(secret: str) -> str:
    """Note that this process knows the secret; the secret itself. Whoever reads one in plain text says so here."""
    global _held
    with _holding:
        if secret and secret not in _held:
            _held |= {secret}
    return secret


def mask(text: str) -> str:
    """The text without all secrets that this process has held."""
    return mask_known(text, _held)
