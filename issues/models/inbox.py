"""What a person is told."""

from __future__ import annotations

import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from issues.models.company import Company
from issues.models.issue import Issue


class InboxKind(models.TextChoices):
    """In the order of their weight: the first four want something of the person, the others only tell."""

    APPROVAL = "approval", "Approval"
    REVIEW = "review", "Review"
    BLOCKED = "blocked", "Blocked"
    STOPPED = "stopped", "Stopped"
    ANSWER = "answer", "Answer"
    MOVED = "moved", "In review or done"
    MENTION = "mention", "Mention"
    FAILURE = "failure", "Failure"
    BUDGET = "budget", "Budget"


WANTING = (InboxKind.APPROVAL, InboxKind.REVIEW, InboxKind.BLOCKED, InboxKind.STOPPED)
"""Kinds that want something of the person."""


class InboxItemQuerySet(models.QuerySet["InboxItem"]):
    def standing(self, now: datetime.datetime | None = None) -> InboxItemQuerySet:
        """In the inbox now: neither archived nor snoozed until later."""
        return self.filter(archived_at=None).exclude(snoozed_until__gt=now or timezone.now())

    def snoozed(self) -> InboxItemQuerySet:
        return self.filter(archived_at=None, snoozed_until__gt=timezone.now())

    def wanting(self) -> InboxItemQuerySet:
        return self.filter(kind__in=WANTING)

    def telling(self) -> InboxItemQuerySet:
        return self.exclude(kind__in=WANTING)


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
    snoozed_until = models.DateTimeField(null=True, blank=True, help_text="Out of sight until then.")

    objects = InboxItemQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["member", "-id"], condition=Q(archived_at=None), name="inbox_standing"),
            models.Index(fields=["issue", "kind"], condition=Q(archived_at=None), name="inbox_of_issue"),
            models.Index(fields=["created_at"], name="inbox_newest"),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def lies_still(self) -> bool:
        """Whether it asks a person to say how work goes on."""
        return self.kind in (InboxKind.BLOCKED, InboxKind.STOPPED)

    @property
    def is_wanting(self) -> bool:
        return self.kind in WANTING
