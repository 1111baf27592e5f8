"""Pending approvals as other services see them: what bars a closing, and what a closing ends."""

from __future__ import annotations

from django.utils import timezone

from issues.activity import record
from issues.actors import Person
from issues.models import ApprovalKind, ApprovalStatus, Issue
from issues.services.inbox import settle


def bars_closing(issue: Issue) -> bool:
    """Whether a request or question of an agent still waits here."""
    return issue.approvals.filter(
        status=ApprovalStatus.PENDING, kind__in=(ApprovalKind.REQUEST, ApprovalKind.QUESTION)
    ).exists()


def cancel_pending(issue: Issue, actor: Person) -> None:
    """End whatever still waits for an answer on an issue that a person closes."""
    for approval in issue.approvals.select_for_update().filter(status=ApprovalStatus.PENDING):
        approval.status = ApprovalStatus.CANCELLED
        approval.decided_at = timezone.now()
        approval.decided_by = actor.member_in(issue.company)
        approval.save(update_fields=["status", "decided_at", "decided_by"])
        settle(approval=approval)
        record(actor, "approval.decided", issue, approval=approval.pk, status=approval.status)
