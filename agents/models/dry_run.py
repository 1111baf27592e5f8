"""A dry re-run: a run's prompt asked once more, its reply judged, and nothing of it applied."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class DryRunState(models.TextChoices):
    PENDING = "pending", "Waits for a worker"
    RUNNING = "running", "Waits for the answer"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


OPEN = (DryRunState.PENDING, DryRunState.RUNNING)


class DryRun(models.Model):
    """What the agent would answer to a run's prompt now, and what would become of each of its actions as things stand.
    It is no checkout: the issue stays free. One a run at a time."""

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="dry_runs")
    run = models.ForeignKey("agents.Run", on_delete=models.CASCADE, related_name="dry_runs")
    member = models.ForeignKey(
        "issues.Member", on_delete=models.SET_NULL, null=True, related_name="+", help_text="Who asked for it."
    )
    state = models.CharField(max_length=10, choices=DryRunState, default=DryRunState.PENDING)
    model = models.CharField(max_length=120, blank=True, help_text="The model that answered.")
    reply = models.TextField(null=True, blank=True, help_text="Exactly as received; null before.")
    prose = models.TextField(blank=True, help_text="What would have become the comment.")
    actions = models.JSONField(default=list, blank=True, help_text="Each action, with what would have become of it.")
    dropped = models.JSONField(default=list, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="Of all its calls, both ways.")
    cost_microdollars = models.BigIntegerField(null=True, blank=True, help_text="Null: no known price.")
    error_kind = models.CharField(max_length=30, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run"], condition=Q(state__in=OPEN), name="dry_run_one_open_per_run"),
            models.CheckConstraint(condition=Q(state__in=DryRunState.values), name="dry_run_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=OPEN, ended_at=None) | (~Q(state__in=OPEN) & Q(ended_at__isnull=False)),
                name="dry_run_ended_at_with_state",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "-id"], name="dry_run_of_run"),
            models.Index(fields=["state"], condition=Q(state__in=OPEN), name="dry_run_open"),
        ]

    def __str__(self) -> str:
        return f"dry run {self.pk}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN
