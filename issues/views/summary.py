"""What the talk on an issue came to so far: its newest checkpoint, as agents are shown it in place of what no longer
fits."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from django.urls import reverse

from engine.checkpoints import read_checkpoint
from engine.text.points import LISTS, Point
from issues.models import Issue


@dataclass(frozen=True, slots=True)
class Cite:
    """What a point rests on, in words, with its address (empty: it has none)."""

    words: str
    address: str


@dataclass(frozen=True, slots=True)
class SummedPoint:
    """One point of a list. `closed_by` is empty for one that is open."""

    text: str
    cites: tuple[Cite, ...]
    closed_by: tuple[Cite, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A checkpoint for reading; `lists` holds those with a point, by heading. It reaches to the comment `until`."""

    comments: int
    until: Cite
    objective: str
    next_action: str
    lists: tuple[tuple[str, tuple[SummedPoint, ...]], ...]


def read_summary(issue: Issue, *, shown: Collection[int]) -> Summary | None:
    """The summary that the next prompt could show; none if there is none, or the company wants none. `shown` are the
    ids of the comments on the page: the others are led to by an address that shows them. One query."""
    found = read_checkpoint(issue)
    if found is None:
        return None
    at = _Addresses(issue, frozenset(shown))
    lists = (
        (heading, tuple(at.point(point) for point in found.fields.points(name))) for name, (_, heading) in LISTS.items()
    )
    return Summary(
        comments=found.comments,
        until=at.cite(f"comment {found.until}"),
        objective=found.fields.objective,
        next_action=found.fields.next_action,
        lists=tuple((heading, points) for heading, points in lists if points),
    )


@dataclass(frozen=True, slots=True)
class _Addresses:
    issue: Issue
    shown: frozenset[int]

    def point(self, point: Point) -> SummedPoint:
        return SummedPoint(point.text, self._cites(point.cites), self._cites(point.closed_by))

    def cite(self, words: str) -> Cite:
        """`comment 17` and `run 4` lead somewhere."""
        found = re.fullmatch(r"(comment|run) ([0-9]{1,18})", words)
        if found is None:
            return Cite(words, "")
        slug, pk = self.issue.company.slug, int(found[2])
        if found[1] == "run":
            return Cite(words, reverse("run", args=[slug, pk]))
        page = reverse("issue", args=[slug, self.issue.identifier])
        return Cite(words, f"#comment-{pk}" if pk in self.shown else f"{page}?comment={pk}#comment-{pk}")

    def _cites(self, cites: tuple[str, ...]) -> tuple[Cite, ...]:
        return tuple(self.cite(words) for words in cites)
