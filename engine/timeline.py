"""The history of an issue for a prompt: comments and activity in one timeline, the middle of a long one left out."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.html import strip_tags

from engine.inventory import Kept
from engine.participants import author, named, participant
from engine.text.context import ActivityLine, History, Participant
from engine.text.context import Comment as ContextComment
from issues.models import Activity, Comment, Issue, was_brought
from issues.names import Names
from issues.prepared import PreparedInstances
from issues.sentences import named_in, tell

NEWEST = 400
"""Comments, and as many lines of activity, that a prompt could show; older ones but the first are counted only."""

_TOLD_ELSEWHERE = ("comment.", "run.", "wakeup.", "action.", "notebook.", "help.", "issue.moved")
"""Comments are entries of their own, what the engine does is no news to an agent, and what an agent tried in vain or
keeps for itself is told to that agent alone."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the prompt needs of the comments: the history, those pinned, and how long agents have been alone."""

    history: History
    pinned: tuple[ContextComment, ...]
    agents_comments: int


def read_timeline(issue: Issue, there: Collection[Kept]) -> Timeline:
    """Read it in a fixed number of queries, however long it is: three, or six beyond what a prompt could show. `there`
    tells whether there are comments."""
    standing = (
        issue.comments.filter(deleted_at=None)
        .select_related("author_agent", "author_member__user")
        .only("issue", "body", "created_at", "pinned_at", *named("author_agent", "author_member"))
        .annotate(brought=was_brought())
    )
    newest = list(standing.order_by("-pk")[: NEWEST + 1]) if Kept.COMMENTS in there else []
    left_out = 0
    kept = newest
    if len(newest) > NEWEST:
        kept = newest[:NEWEST]
        left_out = standing.count() - NEWEST - 1
    kept = kept[::-1]
    first = [standing.earliest("pk")] if left_out or len(newest) > NEWEST else []
    since = kept[0].created_at if first else None
    entries = [_comment(comment) for comment in (*first, *kept)] + _activity(issue, since)
    entries.sort(key=lambda entry: entry.written_at if isinstance(entry, ContextComment) else entry.at)
    pinned = [comment for comment in kept if comment.pinned_at is not None]
    if first:
        pinned = list(standing.filter(pinned_at__isnull=False).order_by("pk"))
    return Timeline(
        history=History(tuple(entries), left_out),
        pinned=tuple(_comment(comment) for comment in pinned),
        agents_comments=_since_person(kept),
    )


def _comment(comment: Comment) -> ContextComment:
    return ContextComment(
        comment.pk, author(comment), comment.created_at, comment.body, is_pinned=comment.pinned_at is not None
    )


def _activity(issue: Issue, since: object) -> list[ContextComment | ActivityLine]:
    if since is None:
        lines = _newest_activity.all(issue.pk)
    else:
        lines = list(_activity_of(issue.pk).filter(created_at__gte=since)[:NEWEST])
    shown = [line for line in lines if not line.kind.startswith(_TOLD_ELSEWHERE)]
    names = Names(issue.company, named_in(shown))
    return [
        ActivityLine(_actor(line), line.created_at, html.unescape(strip_tags(tell(line, names, "/").text)))
        for line in shown
    ]


def _activity_of(issue_id: int) -> QuerySet[Activity]:
    return (
        Activity.objects.filter(issue=issue_id)
        .select_related("agent", "member__user")
        .only("kind", "data", "created_at", "actor_kind", "company", "issue", "run", *named("agent", "member"))
        .order_by("-pk")
    )


_newest_activity = PreparedInstances(lambda issue: _activity_of(issue)[:NEWEST])


def _actor(line: Activity) -> Participant | None:
    one = line.agent or line.member
    return participant(one) if one is not None else None


def _since_person(comments: Sequence[Comment]) -> int:
    """How many of the newest comments are agents' own."""
    count = 0
    for comment in reversed(comments):
        if comment.author_member_id is not None:
            break
        count += 1
    return count
