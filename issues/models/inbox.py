"""What a person is told."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.models.company import Company
from issues.models.issue import Issue


class InboxKind(models.TextChoices):
    """The first four want something of the person; the others only tell."""

    APPROVAL = "approval", "Approval"
    REVIEW = "review", "Review"
    BLOCKED = "blocked", "Blocked"
    STOPPED = "stopped", "Stopped"
    MENTION = "mention", "Mention"
    FAILURE = "failure", "Failure"


class InboxItem(models.Model):
    """One thing in a member's inbox. Only one unread item of a kind stands for an issue and approval."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="inbox_items")
    member = models.ForeignKey("issues.Member", on_delete=models.CASCADE, related_name="inbox_items")
    kind = models.CharField(max_length=10, choices=InboxKind)
    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    approval = models.ForeignKey(
        "issues.Approval", on_delete=models.CASCADE, null=True, blank=True, related_name="inbox_items"
    )
    comment = models.ForeignKey("issues.Comment", on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    text = models.CharField(max_length=500, help_text="The one thing said or asked.")
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["member", "-id"], condition=Q(archived_at=None), name="inbox_standing"),
        ]

    def __str__(self) -> str:
        return self.text
