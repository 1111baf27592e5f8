"""What changed between two texts, line by line. Pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

MOST_PAIRS = 4_000_000
"""Lines of the one text times lines of the other that are compared. Beyond, the texts are shown whole, one after the
other: comparing takes time by that product where much is alike."""

_KINDS = {"+": "added", "-": "removed", "@": "place"}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`kind` is added, removed, same, or place for where a part begins."""

    kind: str
    text: str


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """The changed lines with three around them; empty for equal texts."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) * len(new) > MOST_PAIRS:
        return [*(DiffLine("removed", f"-{line}") for line in old), *(DiffLine("added", f"+{line}") for line in new)]
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return [DiffLine(_KINDS.get(line[0], "same"), line) for line in lines]
