"""Taking back what one has just done: a move, an assignment, a status, a priority, labels, or many of them at once.

Lines of activity say what was before and after. Undoing goes through them from the last to the first, restores what
was before, writes lines of its own, and wakes nobody; what the act had woken is withdrawn.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from issues import listeners
from issues.activity import record
from issues.actors import Actor, Person
from issues.effects import quietly, service
from issues.models import (
    Activity,
    ActorKind,
    ApprovalStatus,
    Company,
    InboxItem,
    Issue,
    Label,
    Member,
    Priority,
    Status,
)
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden
from issues.services.approvals_pending import tell_ended
from issues.services.issues import refer_assignee
from issues.services.locks import lock_company, lock_issues, save_issue
from issues.services.transitions import enter_status
from issues.traces import Trace

UNDO_SECONDS = 10
"""How long the offer stands on the page."""

GRACE = datetime.timedelta(seconds=20)
"""What a slow network may add to that."""

Restore = Callable[[Person, Issue, Activity], None]


@service
def undo(*, actor: Actor, company: Company, trace: Trace) -> list[Issue]:
    """Restore what was before the act of this trace, whole or not at all: Conflict once somebody else has changed the
    same since, or when it is too late. The issues as they are then.

    Wakeups of the act that still wait end, and runs that it alone began are cancelled.
    """
    member = require(actor, Right.EDIT, company)
    if member is None or not isinstance(actor, Person):
        raise Forbidden("Only a person undoes.")
    lock_company(company)
    lines = _lines_of(company, member, trace)
    issues = {issue.pk: issue for issue in lock_issues(line.issue_id for line in lines if line.issue_id)}
    with quietly():
        for line in lines:
            issue = issues.get(line.issue_id or 0)
            if issue is None:
                raise Conflict("An issue that was changed is no longer there.")
            _RESTORES[line.kind](actor, issue, line)
    for withdraw in listeners.wakeup_withdrawers:
        withdraw(actor, trace.wakeups)
    return list(issues.values())


def _lines_of(company: Company, member: Member, trace: Trace) -> list[Activity]:
    """The lines that can be undone, the last first. Refused unless the act was this member's own, and is young."""
    lines = list(Activity.objects.filter(company=company, pk__in=trace.lines).order_by("-pk"))
    if any(line.actor_kind == ActorKind.AGENT or line.member_id not in (None, member.pk) for line in lines):
        raise Forbidden("Somebody else did that.")
    lines = [line for line in lines if line.kind in _RESTORES]
    if not lines:
        raise Conflict("There is nothing to undo.")
    if timezone.now() - lines[-1].created_at > datetime.timedelta(seconds=UNDO_SECONDS) + GRACE:
        raise Conflict("It is too late to undo that.", "Set it back by hand.")
    return lines


def _status(actor: Person, issue: Issue, line: Activity) -> None:
    _check_unchanged(issue, issue.status, line)
    enter_status(issue, Status(line.data["from"]), actor, undone=line.pk)


def _place(actor: Person, issue: Issue, line: Activity) -> None:
    _check_unchanged(issue, issue.rank, line)
    issue.rank = line.data["from"]
    save_issue(issue, "rank")
    record(actor, "issue.moved", issue, **_reversed(line))


def _priority(actor: Person, issue: Issue, line: Activity) -> None:
    _check_unchanged(issue, Priority(issue.priority).slug, line)
    issue.priority = Priority.from_slug(line.data["from"])
    save_issue(issue, "priority")
    record(actor, "issue.priority", issue, **_reversed(line))


def _assignee(actor: Person, issue: Issue, line: Activity) -> None:
    _check_unchanged(issue, refer_assignee(issue.assignee_agent, issue.assignee_member), line)
    before: Mapping[str, int] = line.data["from"] or {}
    issue.assignee_agent = issue.company.agents.filter(pk=before.get("agent", 0)).first()
    issue.assignee_member = issue.company.members.filter(pk=before.get("member", 0)).first()
    save_issue(issue, "assignee_agent", "assignee_member")
    record(actor, "issue.assigned", issue, **_reversed(line))


def _labels(actor: Person, issue: Issue, line: Activity) -> None:
    known = {label.name: label for label in Label.objects.filter(company=issue.company)}
    added = [known[name] for name in line.data["removed"] if name in known]
    removed = [known[name] for name in line.data["added"] if name in known]
    issue.labels.add(*added)
    issue.labels.remove(*removed)
    save_issue(issue)
    record(
        actor,
        "issue.labels",
        issue,
        added=[label.name for label in added],
        removed=[label.name for label in removed],
        undone=line.pk,
    )


def _approval(actor: Person, issue: Issue, line: Activity) -> None:
    """What the closing of the issue cancelled is asked again."""
    asked = issue.approvals.filter(pk=line.data["approval"], status=ApprovalStatus.CANCELLED)
    if asked.update(status=ApprovalStatus.PENDING, decided_by=None, decided_at=None):
        InboxItem.objects.filter(approval=line.data["approval"]).update(archived_at=None)
        record(actor, "approval.reopened", issue, approval=line.data["approval"], undone=line.pk)
        tell_ended(issue.approvals.get(pk=line.data["approval"]))


def _check_unchanged(issue: Issue, now: Any, line: Activity) -> None:
    if now != line.data["to"]:
        raise Conflict(f"{issue.identifier} has been changed since.", "Look at it, then set it by hand.")


def _reversed(line: Activity) -> dict[str, Any]:
    return {"from": line.data["to"], "to": line.data["from"], "undone": line.pk}


_RESTORES: Mapping[str, Restore] = {
    "issue.status": _status,
    "issue.moved": _place,
    "issue.priority": _priority,
    "issue.assigned": _assignee,
    "issue.labels": _labels,
    "approval.decided": _approval,
}
