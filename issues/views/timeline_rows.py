"""What is read of an issue's timeline: how it began and its newest part, without what lies between."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from agents.models import Run, RunState
from agents.models.run import LIVE
from issues.citations import cited_numbers
from issues.models import Activity, ActorKind, Comment, Issue
from issues.names import Wanted
from issues.sentences import named_in

PAGE = 50
"""Entries that are read at once; what is older comes on demand."""

MOST = 500
"""Rows of a kind that a page is fetched anew with, of which its reader has unfolded as many."""

TOGETHER = datetime.timedelta(minutes=10)
"""Changes of one actor that lie no farther apart are read as one."""

Row = Comment | Run | Activity
Group = list[Row]
"""The rows of one entry, oldest first: a comment, a run, or what one actor changed in one go."""

_BEGINNING = 10
"""Changes and runs among which the first comment is looked for, to be shown with what led to it."""

_TOLD_OTHERWISE = (
    "comment.written",
    "comment.reacted",
    "comment.unreacted",
    "run.started",
    "run.ended",
    "run.dry_run_ended",
    "wakeup.asked",
    "issue.moved",
)
"""Kinds that stand in the timeline as comments and runs, or say nothing to a reader."""

_BY_PEOPLE = Q(actor_kind=ActorKind.USER)
_LOUD = Q(state__in=(*LIVE, RunState.FAILED, RunState.LOST))
_BULKY = ("system_message", "user_message", "prompt_sections", "reply", "dropped")


@dataclass(frozen=True, slots=True)
class Rows:
    """What was read of a timeline, before anything is named. All later than `since` was read, and what came first up
    to `after`; where that is earlier, entries are left out between `first` and `newest`."""

    newest: list[Group]
    after: datetime.datetime
    since: datetime.datetime
    first: list[Group] = field(default_factory=list)

    @property
    def has_gap(self) -> bool:
        return self.after < self.since

    @property
    def comments(self) -> list[Comment]:
        return [row for row in self._all() if isinstance(row, Comment)]

    def wanted(self, key: str, *texts: str) -> Wanted:
        """What the rows name, and the issues that further texts of the page name, in a company of that key."""
        cited = cited_numbers(key, [*texts, *(comment.body for comment in self.comments)])
        return named_in([row for row in self._all() if isinstance(row, Activity)]) | Wanted(numbers=cited)

    def _all(self) -> Iterable[Row]:
        return (row for group in (*self.first, *self.newest) for row in group)


def read_rows(
    issue: Issue,
    *,
    until: datetime.datetime | None = None,
    since: datetime.datetime | None = None,
    quiet: bool = False,
) -> Rows:
    """How the issue began and its newest entries, three queries. With `until` as if it had ended then; with `since`
    all that is later, whatever its number. `quiet` leaves out what agents and Trimus itself changed, and their runs,
    but for those under way and those that failed."""
    most = PAGE if since is None else MOST
    kinds = [
        _pick(rows, first, most, after=since, until=until)
        for rows, first in zip(_kinds(issue, quiet), (1, _BEGINNING, _BEGINNING), strict=True)
    ]
    rows = _in_order(kinds)
    floor = _floor(kinds, most, since)
    if since is None:
        floor = _floor_of_page(rows, floor)
    if floor is None:
        return Rows(_group(rows), issue.created_at, issue.created_at)
    end = _end_of_beginning(kinds, rows)
    if end is None or end >= floor:
        return Rows(_group(rows), floor, floor)
    return Rows(
        newest=_group(row for row in rows if row.created_at > floor),
        first=_group(row for row in rows if row.created_at <= end),
        after=end,
        since=floor,
    )


def read_between(issue: Issue, *, after: datetime.datetime, until: datetime.datetime, quiet: bool = False) -> Rows:
    """The newest entries of a gap: later than `after`, up to and with `until`. Three queries."""
    kinds = [_pick(rows, 0, PAGE, after=after, until=until) for rows in _kinds(issue, quiet)]
    rows = _in_order(kinds)
    floor = _floor_of_page(rows, _floor(kinds, PAGE, None)) or after
    return Rows(_group(row for row in rows if row.created_at > floor), after, floor)


def read_time(value: str) -> datetime.datetime | None:
    """A time as addresses hold it, with its zone; None for anything else."""
    try:
        moment = parse_datetime(value)
        return moment.astimezone(datetime.UTC) if moment is not None and timezone.is_aware(moment) else None
    except (ValueError, OverflowError):
        return None


def _kinds(issue: Issue, quiet: bool) -> tuple[QuerySet[Any], ...]:
    return (
        issue.comments.all(),
        issue.runs.defer(*_BULKY).filter(_LOUD if quiet else Q()),
        issue.activity.exclude(kind__in=_TOLD_OTHERWISE).filter(_BY_PEOPLE if quiet else Q()),
    )


def _pick(
    rows: QuerySet[Any],
    first: int,
    most: int,
    *,
    after: datetime.datetime | None,
    until: datetime.datetime | None,
) -> list[Row]:
    """The `first` rows, and the newest up to one more than `most` of those after a time; newest first, in one query."""
    if until is not None:
        rows = rows.filter(created_at__lte=until)
    later = rows if after is None else rows.filter(created_at__gt=after)
    newest = later.order_by("-pk")[: most + 1]
    if not first:
        return list(newest)
    oldest = rows.order_by("pk")[:first]
    both = Q(pk__in=newest.values("pk")) | Q(pk__in=oldest.values("pk"))
    return list(rows.filter(both).order_by("-pk"))


def _in_order(kinds: Iterable[list[Row]]) -> list[Row]:
    return sorted((row for rows in kinds for row in reversed(rows)), key=lambda row: row.created_at)


def _floor(kinds: Iterable[list[Row]], most: int, since: datetime.datetime | None) -> datetime.datetime | None:
    """The latest time up to which rows of some kind were left out."""
    floors = [rows[most].created_at for rows in kinds if len(rows) > most]
    return max([*floors, since] if since is not None else floors, default=None)


def _floor_of_page(rows: Sequence[Row], floor: datetime.datetime | None) -> datetime.datetime | None:
    """The floor above which lies no more than a page of entries."""
    groups = _group(row for row in rows if floor is None or row.created_at > floor)
    return groups[-PAGE - 1][-1].created_at if len(groups) > PAGE else floor


def _end_of_beginning(kinds: Sequence[list[Row]], rows: Sequence[Row]) -> datetime.datetime | None:
    """Up to when a timeline is shown from its begin: to the first comment, or where much happened before that, to the
    first entry. It rests on the first rows of each kind alone, so that it stays while the issue goes on."""
    comments, *others = kinds
    known = min((some[-_BEGINNING].created_at for some in others if len(some) >= _BEGINNING), default=None)
    if comments and (known is None or comments[-1].created_at <= known):
        return comments[-1].created_at
    beginning = _group(row for row in rows if known is None or row.created_at <= known)
    return beginning[0][-1].created_at if beginning else None


def _group(rows: Iterable[Row]) -> list[Group]:
    groups: list[Group] = []
    for row in rows:
        if groups and _go_together(groups[-1][-1], row):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _go_together(before: Row, row: Row) -> bool:
    return (
        isinstance(before, Activity)
        and isinstance(row, Activity)
        and (before.actor_kind, before.agent_id, before.member_id) == (row.actor_kind, row.agent_id, row.member_id)
        and row.created_at - before.created_at <= TOGETHER
    )
