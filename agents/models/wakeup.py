"""Why an agent shall look at an issue once."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.sources import WakeupSource


class WakeupState(models.TextChoices):
    PENDING = "pending", "Pending"
    CLAIMED = "claimed", "Claimed"
    CONSUMED = "consumed", "Consumed"
    REFUSED = "refused", "Refused"
    STALE = "stale", "Stale"


class Wakeup(models.Model):
    """ "Look at this once." Kept until one run has delivered it, then consumed; the row stays as its story.

    `key` names agent, issue, source and subject: while one is pending, an equal one joins it. `depth` counts the
    agents that woke one another since a person, a schedule or a routine began the chain; `chain` is the id of the
    wakeup that began it (its own for the first).
    """

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="wakeups")
    agent = models.ForeignKey("agents.Agent", on_delete=models.CASCADE, related_name="wakeups")
    issue = models.ForeignKey("issues.Issue", on_delete=models.CASCADE, related_name="wakeups")
    source = models.CharField(max_length=20, choices=WakeupSource)
    key = models.CharField(max_length=120)
    reason = models.CharField(max_length=500, blank=True, help_text="In words, as the prompt shows it.")
    note = models.TextField(blank=True, max_length=10_000, help_text="What a person said with it.")
    state = models.CharField(max_length=10, choices=WakeupState, default=WakeupState.PENDING)
    due_at = models.DateTimeField(help_text="Not started before.")
    tries = models.PositiveSmallIntegerField(default=0)
    joined = models.PositiveIntegerField(default=0, help_text="Equal requests that joined this one.")
    waiting_because = models.CharField(max_length=300, blank=True, help_text="Why it has not started yet.")
    ended_because = models.CharField(max_length=300, blank=True, help_text="Why it was refused or went stale.")

    member = models.ForeignKey(
        "issues.Member",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The person who asked.",
    )
    by_agent = models.ForeignKey(
        "agents.Agent",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The agent who asked.",
    )
    cause_run = models.ForeignKey(
        "agents.Run", on_delete=models.SET_NULL, null=True, blank=True, related_name="caused_wakeups"
    )
    comment = models.ForeignKey(
        "issues.Comment", on_delete=models.SET_NULL, null=True, blank=True, related_name="wakeups"
    )
    subject_issue = models.ForeignKey(
        "issues.Issue",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The blocker or child that caused it.",
    )
    approval = models.ForeignKey(
        "issues.Approval", on_delete=models.SET_NULL, null=True, blank=True, related_name="wakeups"
    )
    depth = models.PositiveSmallIntegerField(default=0)
    chain = models.BigIntegerField(null=True, blank=True, db_index=True)
    chain_member = models.ForeignKey(
        "issues.Member",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The person whose act began the chain.",
    )
    run = models.ForeignKey(
        "agents.Run",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="wakeups",
        help_text="The run that delivers it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], condition=Q(state="pending"), name="wakeup_pending_once"),
            models.CheckConstraint(condition=Q(source__in=WakeupSource.values), name="wakeup_source_known"),
            models.CheckConstraint(condition=Q(state__in=WakeupState.values), name="wakeup_state_known"),
            models.CheckConstraint(condition=~Q(key=""), name="wakeup_has_key"),
            models.CheckConstraint(
                condition=~Q(state="claimed") | Q(claimed_at__isnull=False), name="wakeup_claimed_at"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state="pending"), name="wakeup_due"),
            models.Index(fields=["issue", "-id"], name="wakeup_issue"),
            models.Index(fields=["agent", "state"], name="wakeup_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.source} for {self.agent_id} on {self.issue_id}"

    @property
    def is_from_person(self) -> bool:
        return self.member_id is not None
