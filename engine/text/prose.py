"""What is left of a text when lines are taken out of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def prose_without(lines: Sequence[str], gaps: Iterable[range]) -> str:
    """`lines` without those in `gaps`, which are in order and do not overlap, as one text.

    The blank lines around a gap become at most one, blank lines at both ends go, all others stay. No gap lies
    inside a fence that stays, so the blank lines beside a gap are never those of a fence.
    """
    kept: list[str] = []
    position = 0
    for gap in gaps:
        kept.extend(lines[position : gap.start])
        position = gap.stop
        blank = False
        while kept and not kept[-1].strip():
            kept.pop()
            blank = True
        while position < len(lines) and not lines[position].strip():
            position += 1
            blank = True
        if blank:
            kept.append("")
    kept.extend(lines[position:])
    return "\n".join(_without_outer_blanks(kept))


def _without_outer_blanks(lines: list[str]) -> list[str]:
    start, stop = 0, len(lines)
    while start < stop and not lines[start].strip():
        start += 1
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return lines[start:stop]
