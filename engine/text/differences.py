"""What changed between the prompts of two runs, section by section."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CONTEXT_LINES = 3
MOST_LINES = 2_000
"""Lines compared one by one, at most, of what differs between the ends of a section: comparing costs their square.
What is longer is shown as replaced."""


class Change(enum.StrEnum):
    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


class LineKind(enum.StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A section as it was sent. `message` is system or user; the text is without the heading that the title tells."""

    title: str
    message: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a difference. A gap's text says how many equal lines are left out."""

    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True)
class SectionChange:
    """A section of either prompt. `lines` is empty for one that stayed as it was; sizes are UTF-8 bytes."""

    title: str
    message: str
    change: Change
    size_before: int
    size_after: int
    lines: tuple[Line, ...] = ()


def kept_sections(system: str, user: str, places: Iterable[Mapping[str, Any]]) -> tuple[PromptSection, ...]:
    """The sections of a kept prompt, by the places that were kept with it; deferred ones left no text."""
    messages = {"system": system, "user": user}
    return tuple(
        PromptSection(
            place["title"], place["message"], _body(messages[place["message"]][place["start"] : place["end"]])
        )
        for place in places
        if not place.get("is_deferred")
    )


def diff_prompts(before: Sequence[PromptSection], after: Sequence[PromptSection]) -> tuple[SectionChange, ...]:
    """All sections of both, in the order of the later prompt; one that is gone stands where it was."""
    older = {(section.message, section.title): section for section in before}
    newer = {(section.message, section.title): section for section in after}
    order = _merged(list(older), list(newer))
    return tuple(_change(older.get(key), newer.get(key)) for key in order)


def _body(section: str) -> str:
    _, _, body = section.partition("\n\n")
    return body


def _merged(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Both lists in one: each that is only in the first behind the last one of it that is in both."""
    merged = list(after)
    place = 0
    for key in before:
        if key in merged:
            place = merged.index(key) + 1
        else:
            merged.insert(place, key)
            place += 1
    return merged


def _change(before: PromptSection | None, after: PromptSection | None) -> SectionChange:
    old, new = before.text if before else "", after.text if after else ""
    if before is None:
        change = Change.ADDED
    elif after is None:
        change = Change.REMOVED
    else:
        change = Change.SAME if old == new else Change.CHANGED
    named = after or before
    assert named is not None  # noqa: S101 - every key comes from one of the two
    lines = () if change is Change.SAME else tuple(_lines(_split(old), _split(new)))
    return SectionChange(named.title, named.message, change, len(old.encode()), len(new.encode()), lines)


def _split(text: str) -> list[str]:
    return text.split("\n") if text else []


def _lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    yield from _edge(before[:head], last=True)
    if max(len(old), len(new)) > MOST_LINES:
        yield from _marked(LineKind.REMOVED, old)
        yield from _marked(LineKind.ADDED, new)
    else:
        yield from _compared(old, new)
    yield from _edge(before[len(before) - tail :], last=False)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many first lines are equal."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _edge(lines: Sequence[str], *, last: bool) -> Iterator[Line]:
    """Of equal lines before or after a change those next to it."""
    shown = lines[-CONTEXT_LINES:] if last else lines[:CONTEXT_LINES]
    gap = _gap(len(lines) - len(shown))
    yield from (gap if last else ())
    yield from _marked(LineKind.SAME, shown)
    yield from (() if last else gap)


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield from _between(before[old_from:old_to])
        else:
            yield from _marked(LineKind.REMOVED, before[old_from:old_to])
            yield from _marked(LineKind.ADDED, after[new_from:new_to])


def _between(lines: Sequence[str]) -> Iterator[Line]:
    """Equal lines between two changes: those next to each."""
    if len(lines) <= 2 * CONTEXT_LINES + 1:
        yield from _marked(LineKind.SAME, lines)
        return
    yield from _marked(LineKind.SAME, lines[:CONTEXT_LINES])
    yield from _gap(len(lines) - 2 * CONTEXT_LINES)
    yield from _marked(LineKind.SAME, lines[-CONTEXT_LINES:])


def _marked(kind: LineKind, lines: Iterable[str]) -> Iterator[Line]:
    return (Line(kind, line) for line in lines)


def _gap(count: int) -> Iterator[Line]:
    if count:
        yield Line(LineKind.GAP, f"{count:,} equal line{'s' if count > 1 else ''}")
