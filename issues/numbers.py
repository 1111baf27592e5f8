"""Numbers as forms and addresses have them."""

from __future__ import annotations


def as_number(word: str) -> int | None:
    """The number that is written in plain digits; None for anything else, or for more than a row's id can be."""
    return int(word) if word.isascii() and word.isdigit() and len(word) < 19 else None


def as_id(word: str) -> int:
    """The id that is written in plain digits; 0, which no row has, for anything else."""
    return as_number(word) or 0
