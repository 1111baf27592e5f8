"""What follows from a status: the one place where an issue's status changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, QuerySet
from django.utils import timezone

from issues.activity import record
from issues.actors import SYSTEM, Actor, Person
from issues.effects import Wake, mark_entered, wake
from issues.models import (
    Blocker,
    Comment,
    Finding,
    InboxKind,
    Issue,
    Member,
    Reviewer,
    Status,
    Verdict,
    WorkspaceFile,
)
from issues.prepared import Prepared
from issues.refusals import Conflict
from issues.services.approvals_pending import cancel_pending, pending_before_closing
from issues.services.inbox import answering_for, settle_issue, tell
from issues.services.locks import lock_issues, save_issue
from issues.services.watching import TOLD_OF, tell_moved
from issues.sources import WakeupSource

if TYPE_CHECKING:
    from agents.models import Agent


def enter_status(
    issue: Issue,
    status: Status,
    actor: Actor,
    *,
    cause: Actor | None = None,
    source: WakeupSource = WakeupSource.ASSIGNED,
    subject: Issue | None = None,
    **because: object,
) -> None:
    """Put a locked issue into a status, with every consequence.

    `actor` is named in the activity, `cause` (the actor unless said) is who is answerable for the wakeups. `because`
    goes into the line of activity.
    """
    before = Status(issue.status)
    if before is status:
        return
    _stamp(issue, status)
    save_issue(issue, "status", "status_changed_at", "started_at", "closed_at")
    record(actor, "issue.status", issue, **{"from": before.value, "to": status.value}, **because)
    cause = cause or actor
    _settle(issue, before, cause)
    asked: list[Member] = []
    if before is Status.IN_REVIEW:
        issue.reviewers.update(verdict=Verdict.OUTSTANDING, note="", decided_at=None)
    if status.is_workable:
        mark_entered(issue, cause, source=source, reason=_why_entered(issue, subject), subject_issue=subject)
    elif status is Status.IN_REVIEW:
        asked = ask_reviewers(issue, cause)
    elif status.is_closed and not before.is_closed:
        _after_closing(issue, cause)
    if status in TOLD_OF:
        tell_moved(issue, cause, asked=asked)


def release_waiting(blocker: Issue, cause: Actor, waiting_ids: list[int]) -> None:
    """Move each blocked issue of `waiting_ids` that has no open blocker left to todo, naming the one that ended."""
    for waiting in lock_issues(waiting_ids):
        if waiting.status != Status.BLOCKED or Blocker.objects.open().filter(issue=waiting).exists():
            continue
        enter_status(
            waiting,
            Status.TODO,
            SYSTEM,
            cause=cause,
            source=WakeupSource.BLOCKER_RESOLVED,
            subject=blocker,
            blocker=blocker.pk,
            blocker_status=blocker.status,
        )


@dataclass(frozen=True, slots=True)
class Closing:
    """What an agent's closing of an issue depends on. `left_evidence` is whether it left a word, file or finding."""

    has_open_children: bool
    has_pending: bool
    has_reviewers: bool
    left_evidence: bool


def _closing(issue: int, agent: int) -> QuerySet[Issue, tuple[bool, ...]]:
    return Issue.objects.filter(pk=issue).values_list(
        Exists(Issue.objects.filter(parent=issue).open()),
        Exists(pending_before_closing(issue)),
        Exists(Reviewer.objects.filter(issue=issue)),
        Exists(Comment.objects.filter(issue=issue, author_agent=agent, deleted_at=None))
        | Exists(Finding.objects.filter(issue=issue, agent=agent))
        | Exists(WorkspaceFile.objects.filter(issue=issue, versions__agent=agent)),
    )


_closing_facts = Prepared(_closing)
_waiting_for = Prepared(
    lambda blocker: Blocker.objects.filter(blocker=blocker, issue__status=Status.BLOCKED).values_list("issue")
)


def read_closing(issue: Issue, agent: Agent) -> Closing:
    """The facts as they stand, in one query."""
    return Closing(*map(bool, _closing_facts.row(issue.pk, agent.pk)))


def check_nothing_waits(closing: Closing) -> None:
    """Conflict where an agent may not close an issue yet. People close as they like."""
    if closing.has_open_children:
        raise Conflict("It still has open child issues.", "You are woken when the last of them closes.")
    if closing.has_pending:
        raise Conflict("A request or question of an agent still waits here for an answer.")


def standing_reviewers(issue: Issue) -> list[Reviewer]:
    """The named reviewers who can judge: not the assignee, no viewer, and nobody who has left."""
    return [
        reviewer
        for reviewer in issue.reviewers.select_related("member__user", "agent").order_by("pk")
        if _can_judge(reviewer, issue)
    ]


def outstanding_reviewers(issue: Issue) -> list[Reviewer]:
    """The standing reviewers without a verdict in this round."""
    return [reviewer for reviewer in standing_reviewers(issue) if reviewer.verdict == Verdict.OUTSTANDING]


def ask_reviewers(issue: Issue, cause: Actor) -> list[Member]:
    """Call whoever has to judge an issue in review: its reviewers, or without any the responsible person. Answer the
    people among them."""
    outstanding = outstanding_reviewers(issue)
    if outstanding:
        return call_reviewers(issue, cause, outstanding)
    return _tell_judges(issue, cause, [answering_for(issue)])


def call_reviewers(issue: Issue, cause: Actor, reviewers: Iterable[Reviewer]) -> list[Member]:
    """Wake the agents and tell the people among the reviewers; answer the people."""
    people: list[Member] = []
    for reviewer in reviewers:
        if reviewer.agent_id is not None:
            wake(
                Wake(
                    agent_id=reviewer.agent_id,
                    issue=issue,
                    source=WakeupSource.REVIEW_REQUESTED,
                    actor=cause,
                    reason="The issue waits for your review.",
                )
            )
        elif reviewer.member is not None:
            people.append(reviewer.member)
    return _tell_judges(issue, cause, people)


def _tell_judges(issue: Issue, cause: Actor, people: list[Member]) -> list[Member]:
    acting = cause.member_in(issue.company) if isinstance(cause, Person) else None
    tell(
        [member for member in people if member != acting],
        InboxKind.REVIEW,
        f"{issue.identifier} waits for your review: accept it or send it back.",
        company=issue.company,
        issue=issue,
    )
    return people


def _can_judge(reviewer: Reviewer, issue: Issue) -> bool:
    if reviewer.agent is not None:
        return reviewer.agent.is_present and reviewer.agent_id != issue.assignee_agent_id
    member = reviewer.member
    return member is not None and member.is_judging and member.pk != issue.assignee_member_id


def _settle(issue: Issue, before: Status, cause: Actor) -> None:
    """Nobody need judge what has left review, nor say how something goes on that does."""
    if before is Status.IN_REVIEW:
        settle_issue(issue, InboxKind.REVIEW)
    elif before is Status.BLOCKED or isinstance(cause, Person):
        settle_issue(issue, InboxKind.BLOCKED, InboxKind.STOPPED)


def _stamp(issue: Issue, status: Status) -> None:
    now = timezone.now()
    issue.status = status
    issue.status_changed_at = now
    if status is Status.IN_PROGRESS and issue.started_at is None:
        issue.started_at = now
    issue.closed_at = now if status.is_closed else None


def _why_entered(issue: Issue, subject: Issue | None) -> str:
    if subject is None:
        return f"The issue is {Status(issue.status).label.lower()} and assigned to you."
    ended = "was cancelled" if subject.status == Status.CANCELLED else "is done"
    if not subject.is_closed:
        ended = "no longer blocks it"
    return f"{subject.identifier} {ended}; nothing else blocks this issue."


def _after_closing(issue: Issue, cause: Actor) -> None:
    if isinstance(cause, Person):
        cancel_pending(issue, cause)
    release_waiting(issue, cause, [waiting for (waiting,) in _waiting_for.rows(issue.pk)])
    if issue.parent_id is not None:
        _tell_parent(issue, issue.parent_id, cause)


def _tell_parent(child: Issue, parent_id: int, cause: Actor) -> None:
    """Wake the parent's agent when the last open child closed. The parent is held, so that of two children that close
    at once the later one sees the earlier."""
    for parent in lock_issues([parent_id]):
        if parent.is_closed or parent.assignee_agent_id is None or parent.children.open().exists():
            continue
        wake(
            Wake(
                agent_id=parent.assignee_agent_id,
                issue=parent,
                source=WakeupSource.CHILD_CLOSED,
                actor=cause,
                subject=str(child.pk),
                subject_issue=child,
                reason=f"{child.identifier}, the last open child issue, is now {child.get_status_display().lower()}.",
            )
        )
