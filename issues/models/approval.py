"""A question to the board, with its decision."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.models.company import Company
from issues.models.issue import Issue


class ApprovalKind(models.TextChoices):
    REQUEST = "request", "Request"
    QUESTION = "question", "Question"
    ACTION = "action", "Action"


class ApprovalStatus(models.TextChoices):
    PENDING = "pending", "Pending"
    APPROVED = "approved", "Approved"
    REFUSED = "refused", "Refused"
    SENT_BACK = "sent_back", "Sent back"
    ANSWERED = "answered", "Answered"
    CANCELLED = "cancelled", "Cancelled"


class Approval(models.Model):
    """A question to the board. One of kind `action` carries the exact action that is carried out once approved;
    `payload_hash` binds the decision to what was shown."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="approvals")
    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="approvals")
    kind = models.CharField(max_length=10, choices=ApprovalKind)
    title = models.CharField(max_length=300)
    explanation = models.TextField(blank=True)
    choices = models.JSONField(default=list, blank=True)
    payload = models.JSONField(default=dict, blank=True)
    payload_hash = models.CharField(max_length=64, help_text="SHA-256 of the payload.")
    status = models.CharField(max_length=10, choices=ApprovalStatus, default=ApprovalStatus.PENDING)
    requested_by_agent = models.ForeignKey(
        "agents.Agent", on_delete=models.PROTECT, null=True, blank=True, related_name="requested_approvals"
    )
    requested_by_member = models.ForeignKey(
        "issues.Member", on_delete=models.PROTECT, null=True, blank=True, related_name="requested_approvals"
    )
    run = models.ForeignKey("agents.Run", on_delete=models.SET_NULL, null=True, blank=True, related_name="approvals")
    decided_by = models.ForeignKey(
        "issues.Member", on_delete=models.PROTECT, null=True, blank=True, related_name="decided_approvals"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True, max_length=10_000, help_text="The decision's note or the answer.")
    failure = models.TextField(blank=True, help_text="Why the approved action could not be carried out.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(requested_by_agent=None, requested_by_member__isnull=False)
                | Q(requested_by_agent__isnull=False, requested_by_member=None),
                name="approval_one_requester",
            ),
            models.CheckConstraint(
                condition=Q(status="pending", decided_at=None) | (~Q(status="pending") & Q(decided_at__isnull=False)),
                name="approval_decided_at_with_status",
            ),
        ]
        indexes = [
            models.Index(fields=["company", "status", "-id"], name="approval_company"),
            models.Index(fields=["issue", "status"], name="approval_issue"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_pending(self) -> bool:
        return self.status == ApprovalStatus.PENDING
