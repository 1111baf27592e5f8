"""An issue's timeline: comments, changes and runs in one order, the newest part first to be there."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_datetime

from agents.models import Run, RunState
from agents.models.run import LIVE
from issues.citations import cited_numbers
from issues.models import Activity, ActorKind, Comment, Issue
from issues.names import Names, Somebody, Wanted
from issues.sentences import Sentence, named_in, tell
from issues.views.around import Reacted

PAGE = 50
"""Entries of a kind that are read at once; what is older comes on demand."""

TOGETHER = datetime.timedelta(minutes=10)
"""Changes of one actor that lie no farther apart are read as one."""

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


@dataclass(frozen=True, slots=True)
class CommentEntry:
    at: datetime.datetime
    comment: Comment
    author: Somebody | None
    reactions: Sequence[Reacted] = ()
    template: str = "issues/entry_comment.html"


@dataclass(frozen=True, slots=True)
class ChangesEntry:
    """What one actor changed in one go. Without an actor it was Trimus itself."""

    at: datetime.datetime
    actor: Somebody | None
    sentences: list[Sentence] = field(default_factory=list)
    template: str = "issues/entry_changes.html"

    @property
    def told(self) -> list[tuple[Sentence, int]]:
        """Each sentence once, in the order in which it was first said, with how often it was."""
        return list(Counter(self.sentences).items())


@dataclass(frozen=True, slots=True)
class RunEntry:
    at: datetime.datetime
    run: Run
    agent: Somebody | None
    template: str = "issues/entry_run.html"


@dataclass(frozen=True, slots=True)
class GapEntry:
    """Older entries that were not read; `before` says how to ask for them."""

    at: datetime.datetime
    before: str
    template: str = "issues/entry_gap.html"


Entry = CommentEntry | ChangesEntry | RunEntry | GapEntry


@dataclass(frozen=True, slots=True)
class Rows:
    """What was read of a timeline, before anything is named. `floor` is where reading stopped."""

    comments: list[Comment]
    lines: list[Activity]
    runs: list[Run]
    floor: datetime.datetime | None

    def wanted(self, key: str, *texts: str) -> Wanted:
        """What the rows name, and the issues that further texts of the page name, in a company of that key."""
        cited = cited_numbers(key, [*texts, *(comment.body for comment in self.comments)])
        return named_in(self.lines) | Wanted(numbers=cited)


def read_rows(issue: Issue, *, before: datetime.datetime | None = None, quiet: bool = False) -> Rows:
    """The newest rows of the issue, or those before a time: three queries. `quiet` leaves out what agents and Trimus
    itself changed, and their runs, but for those under way and those that failed."""
    comments = _newest(issue.comments.all(), before)
    lines = _newest(issue.activity.exclude(kind__in=_TOLD_OTHERWISE).filter(_BY_PEOPLE if quiet else Q()), before)
    runs = _newest(issue.runs.defer(*_BULKY).filter(_LOUD if quiet else Q()), before)
    floors = [rows[-1].created_at for rows in (comments, lines, runs) if len(rows) > PAGE]
    floor = max(floors, default=None)
    if floor is not None:
        comments = [row for row in comments if row.created_at > floor]
        lines = [row for row in lines if row.created_at > floor]
        runs = [row for row in runs if row.created_at > floor]
    return Rows(comments, lines, runs, floor)


def build_timeline(
    rows: Rows, names: Names, root: str, reactions: Mapping[int, Sequence[Reacted]] = MappingProxyType({})
) -> list[Entry]:
    """The rows as entries, oldest first, with a gap before them where something older was left out."""
    entries: list[Entry] = [
        CommentEntry(
            row.created_at,
            row,
            names.somebody(agent=row.author_agent_id, member=row.author_member_id),
            reactions.get(row.pk, ()),
        )
        for row in rows.comments
    ]
    entries += [RunEntry(row.created_at, row, names.agents.get(row.agent_id)) for row in rows.runs]
    entries += [
        ChangesEntry(row.created_at, _actor(row, names), [tell(row, names, root)]) for row in reversed(rows.lines)
    ]
    entries.sort(key=lambda entry: entry.at)
    entries = _merge(entries)
    if rows.floor is not None:
        entries.insert(0, GapEntry(rows.floor, rows.floor.isoformat()))
    return entries


def read_before(value: str) -> datetime.datetime | None:
    """The time of a gap's address; None for anything else."""
    try:
        return parse_datetime(value)
    except ValueError:
        return None


_BY_PEOPLE = Q(actor_kind=ActorKind.USER)
_LOUD = Q(state__in=(*LIVE, RunState.FAILED, RunState.LOST))
_BULKY = ("system_message", "user_message", "prompt_sections", "reply", "dropped")


def _newest(rows: QuerySet, before: datetime.datetime | None) -> list:  # type: ignore[type-arg]
    """Up to one more row than a page, newest first."""
    condition = Q(created_at__lte=before) if before is not None else Q()
    return list(rows.filter(condition).order_by("-pk")[: PAGE + 1])


def _actor(line: Activity, names: Names) -> Somebody | None:
    if line.actor_kind == ActorKind.SYSTEM:
        return None
    return names.somebody(agent=line.agent_id, member=line.member_id)


def _merge(entries: Sequence[Entry]) -> list[Entry]:
    merged: list[Entry] = list(entries[:1])
    for before, entry in pairwise(entries):
        last = merged[-1]
        if (
            isinstance(entry, ChangesEntry)
            and isinstance(last, ChangesEntry)
            and last.actor == entry.actor
            and entry.at - before.at <= TOGETHER
        ):
            last.sentences.extend(entry.sentences)
        else:
            merged.append(entry)
    return merged
