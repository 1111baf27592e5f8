"""Following an issue, and what those who follow it are told."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from issues.actors import Actor, Person
from issues.effects import service
from issues.models import Comment, InboxItem, InboxKind, Issue, Member, Status, Watch
from issues.policies import Right, require
from issues.prepared import Prepared
from issues.refusals import Forbidden
from issues.services.inbox import put

TOLD_OF = (Status.IN_REVIEW, Status.DONE)
"""Statuses that those who follow an issue hear of. The others come and go."""


@service
def watch_issue(*, actor: Actor, issue: Issue) -> None:
    """Follow the issue: its coming into review and its end are told in the inbox."""
    follow(issue, [_member(actor, issue)])


@service
def unwatch_issue(*, actor: Actor, issue: Issue) -> None:
    """Follow it no longer, until one comments on it or is named there again."""
    Watch.objects.filter(issue=issue, member=_member(actor, issue)).delete()


def follow(issue: Issue, members: Iterable[Member]) -> None:
    """Let them follow the issue, who commented on it or were named."""
    Watch.objects.bulk_create((Watch(issue=issue, member=member) for member in members), ignore_conflicts=True)


def tell_moved(issue: Issue, cause: Actor, *, asked: Collection[Member] = ()) -> None:
    """Tell whose issue it is, and who follows it, that it is in review or done; not who did it, nor those who were
    `asked` to judge it. Whoever answers for it hears of it unless it is a part of another issue."""
    own = [issue.assignee_member_id, issue.created_by_member_id]
    if issue.parent_id is None:
        own.append(issue.responsible_id)
    acting = cause.member_in(issue.company) if isinstance(cause, Person) else None
    concerned = {member for member in own if member is not None}
    concerned.update(member for (member,) in _followers.rows(issue.pk))
    concerned.difference_update(member.pk for member in (*asked, acting) if member is not None)
    if not concerned:
        return
    told_already = InboxItem.objects.filter(
        issue=issue, kind=InboxKind.MOVED, text=_moved(issue), member=OuterRef("pk"), read_at=None, archived_at=None
    )
    told = issue.company.members.present().filter(pk__in=concerned).exclude(Exists(told_already))
    put(told, InboxKind.MOVED, _moved(issue), company=issue.company, issue=issue)


def tell_answered(comment: Comment, *, named: Collection[Member] = ()) -> None:
    """Tell those who commented that an agent has answered: the first comment of one after theirs. Whom it names is
    told of that instead."""
    issue, agent = comment.issue, comment.author_agent
    if agent is None:
        return
    waiting = [member for (member,) in _answered.rows(issue.pk, comment.pk)]
    if not waiting:
        return
    told = [member for member in issue.company.members.present().filter(pk__in=waiting) if member not in named]
    text = f"{agent.name} answered you on {issue.identifier}."
    put(told, InboxKind.ANSWER, text, company=issue.company, issue=issue, comment=comment)


def _answered_by(issue: int, comment: int) -> QuerySet[Comment, tuple[int]]:
    """Who commented since an agent last did, once each."""
    others = Comment.objects.filter(issue=issue, pk__lt=comment)
    answered = others.filter(author_agent__isnull=False).order_by("-pk").values("pk")[:1]
    since = Coalesce(Subquery(answered), 0)
    waiting = others.filter(author_member__isnull=False, deleted_at=None, pk__gt=since)
    return waiting.order_by().values_list("author_member").distinct()


_answered = Prepared(_answered_by)
_followers = Prepared(lambda issue: Watch.objects.filter(issue=issue).values_list("member"))


def _moved(issue: Issue) -> str:
    return f"{issue.identifier} is {Status(issue.status).label.lower()}."


def _member(actor: Actor, issue: Issue) -> Member:
    member = require(actor, Right.READ, issue)
    if member is None:
        raise Forbidden("Only people follow issues: an agent is woken.")
    return member
