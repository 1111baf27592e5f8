"""Webhooks out: servers that a company has told of what changes, and each message to them."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q

from issues.models.activity import Activity
from issues.models.company import Company
from issues.sealing import SealedField


class WebhookKind(models.TextChoices):
    """What can be told: lines of activity whose kind begins with the word."""

    ISSUE = "issue", "Issues: opened, changed, moved, assigned, reviewed"
    COMMENT = "comment", "Comments: written, edited, deleted"
    APPROVAL = "approval", "Approvals and questions: asked, decided"
    RUN = "run", "Runs: started, ended"
    BUDGET = "budget", "Budgets: set, nearly used up, used up"


class Webhook(models.Model):
    """One server that is told. Its secret is sealed, and shown once when it is made.

    One worker at a time sends to it: the turn is a lease, taken by compare-and-set.
    """

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=1_000)
    kinds = models.JSONField(default=list, help_text="What it is told of.")
    enabled = models.BooleanField(default=True)
    why_off = models.CharField(max_length=300, blank=True, editable=False, help_text="Why Trimus turned it off.")
    sealed_secret = SealedField(editable=False)
    sealed_old_secret = SealedField(blank=True, editable=False)
    old_secret_until = models.DateTimeField(null=True, blank=True, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False, help_text="Rounds in a row in which all failed.")
    failing_since = models.DateTimeField(null=True, blank=True, editable=False)
    held_until = models.DateTimeField(null=True, blank=True, editable=False, help_text="Nothing is sent before.")
    turn = models.CharField(max_length=32, blank=True, editable=False)
    turn_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.host

    @property
    def host(self) -> str:
        """Where it leads to, without the path, which may hold a secret of the receiver's."""
        return urlsplit(self.url).netloc


class DeliveryState(models.TextChoices):
    PENDING = "pending", "Pending"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Given up"
    DROPPED = "dropped", "Not sent"


class Delivery(models.Model):
    """One message to one webhook. The row is the job: written in the transaction of the change, sent by the tick, kept
    until its receiver took it. `uid` is the same at each try, so that a receiver knows what it has had.

    The database does not insist that its webhook is there: one that is removed at that moment must not undo the change
    that it was to be told of. What is left so is cleared away.
    """

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, db_constraint=False, related_name="deliveries")
    uid = models.CharField(max_length=40, unique=True)
    activity = models.ForeignKey(
        Activity, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, null=True, related_name="+"
    )
    kind = models.CharField(max_length=40)
    body = models.TextField(blank=True, help_text="As it is sent: written at the first try, the same at each.")
    state = models.CharField(max_length=9, choices=DeliveryState, default=DeliveryState.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="Not sent before.")
    tried_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    status_code = models.PositiveSmallIntegerField(null=True, blank=True, help_text="What its receiver answered last.")
    milliseconds = models.PositiveIntegerField(null=True, blank=True, help_text="How long the last try took.")
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [models.CheckConstraint(condition=Q(state__in=DeliveryState.values), name="delivery_state_known")]
        indexes = [
            models.Index(fields=["webhook", "due_at"], condition=Q(state=DeliveryState.PENDING), name="delivery_due"),
            models.Index(fields=["webhook", "-id"], name="delivery_newest"),
        ]

    def __str__(self) -> str:
        return self.uid
