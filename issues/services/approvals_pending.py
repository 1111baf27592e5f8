"""Pending approvals as other services see them: what bars a closing, and what a closing ends."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from issues import listeners
from issues.activity import record
from issues.actors import Person
from issues.models import Approval, ApprovalKind, ApprovalStatus, Issue
from issues.services.inbox import settle


def pending_before_closing(issue: int) -> QuerySet[Approval]:
    """Requests and questions of agents that still wait on the issue of that id."""
    kinds = (ApprovalKind.REQUEST, ApprovalKind.QUESTION)
    return Approval.objects.filter(issue=issue, status=ApprovalStatus.PENDING, kind__in=kinds)


def cancel_pending(issue: Issue, actor: Person) -> None:
    """End whatever still waits for an answer on an issue that a person closes."""
    for approval in issue.approvals.select_for_update().filter(status=ApprovalStatus.PENDING):
        approval.status = ApprovalStatus.CANCELLED
        approval.decided_at = timezone.now()
        approval.decided_by = actor.member_in(issue.company)
        approval.save(update_fields=["status", "decided_at", "decided_by"])
        settle(approval=approval)
        record(actor, "approval.decided", issue, approval=approval.pk, status=approval.status)
        tell_ended(approval)


def tell_ended(approval: Approval) -> None:
    """Tell the layer above that the approval ended, or waits again: its actions have an outcome by that."""
    for listener in listeners.approval_listeners:
        listener(approval)
