"""What is told by e-mail: one notice an item of an inbox, kept until it was sent."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.models.inbox import InboxItem


class NoticeState(models.TextChoices):
    PENDING = "pending", "Pending"
    SENDING = "sending", "Being sent"
    SENT = "sent", "Sent"
    SKIPPED = "skipped", "Not wanted"
    FAILED = "failed", "Failed"


WAITING = (NoticeState.PENDING, NoticeState.SENDING)


class Notice(models.Model):
    """The row is the job: made from the inbox, sent by the tick, never inside the transaction that told the person."""

    item = models.OneToOneField(InboxItem, on_delete=models.CASCADE, related_name="notice")
    state = models.CharField(max_length=8, choices=NoticeState, default=NoticeState.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="Not sent before.")
    claimed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True, help_text="What the mail server said last.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(state__in=NoticeState.values), name="notice_state_known")]
        indexes = [models.Index(fields=["due_at"], condition=Q(state__in=WAITING), name="notice_due")]

    def __str__(self) -> str:
        return f"notice of {self.item_id}"
