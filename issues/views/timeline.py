"""An issue's timeline: comments, changes and runs in one order, with a gap where entries were left out."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from agents.models import Run
from issues.models import Activity, ActorKind, Comment
from issues.names import Names, Somebody
from issues.sentences import Sentence, tell
from issues.views.around import Reacted
from issues.views.timeline_rows import Group, Rows


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
    sentences: list[Sentence]
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
    """Entries that were not read: later than `after`, up to and with `since`. A closed one shows nothing, and tells
    the page from when on it is to be fetched anew."""

    after: str
    since: str
    is_open: bool
    template: str = "issues/entry_gap.html"


Entry = CommentEntry | ChangesEntry | RunEntry | GapEntry


@dataclass(frozen=True, slots=True)
class _Teller:
    """Makes entries of rows."""

    names: Names
    root: str
    reactions: Mapping[int, Sequence[Reacted]]

    def entries(self, groups: Iterable[Group]) -> list[Entry]:
        return [self._entry(group) for group in groups]

    def _entry(self, group: Group) -> Entry:
        row, names = group[0], self.names
        if isinstance(row, Comment):
            author = names.somebody(agent=row.author_agent_id, member=row.author_member_id)
            return CommentEntry(row.created_at, row, author, self.reactions.get(row.pk, ()))
        if isinstance(row, Run):
            return RunEntry(row.created_at, row, names.agents.get(row.agent_id))
        sentences = [tell(line, names, self.root) for line in group if isinstance(line, Activity)]
        return ChangesEntry(row.created_at, self._actor(row), sentences)

    def _actor(self, line: Activity) -> Somebody | None:
        if line.actor_kind == ActorKind.SYSTEM:
            return None
        return self.names.somebody(agent=line.agent_id, member=line.member_id)


def build_timeline(
    rows: Rows, names: Names, root: str, reactions: Mapping[int, Sequence[Reacted]] = MappingProxyType({})
) -> list[Entry]:
    """The rows as entries, oldest first, with the gap, open or closed, before the newest part."""
    teller = _Teller(names, root, reactions)
    gap = GapEntry(rows.after.isoformat(), rows.since.isoformat(), rows.has_gap)
    return [*teller.entries(rows.first), gap, *teller.entries(rows.newest)]
