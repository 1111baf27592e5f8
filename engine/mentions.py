"""Whom an agent's comment mentions. The code lives beside the comments, in `issues.mentions`."""

from __future__ import annotations

from collections.abc import Sequence

from issues.mentions import read_mentions


def find_mentions(text: str, known: Sequence[str]) -> list[str]:
    """The entries of `known` (handles and names) that `text` mentions, each once, in order of first occurrence."""
    return list(read_mentions(text, known).found)
