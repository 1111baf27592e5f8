"""Work that comes round by the clock."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Routine(models.Model):
    """A schedule that opens an issue from a template and wakes its assignee."""

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="routines")
    name = models.CharField(max_length=120)
    cron = models.CharField(max_length=120, help_text="Five fields, in the time zone below.")
    time_zone = models.CharField(max_length=64, default="UTC")
    title = models.CharField(max_length=300, help_text="Of the issue it opens.")
    body = models.TextField(blank=True)
    priority = models.PositiveSmallIntegerField(default=5)
    project = models.ForeignKey("issues.Project", on_delete=models.SET_NULL, null=True, blank=True)
    assignee = models.ForeignKey("agents.Agent", on_delete=models.PROTECT, related_name="routines")
    responsible = models.ForeignKey("issues.Member", on_delete=models.PROTECT, related_name="+")
    enabled = models.BooleanField(default=True)
    next_fire_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["next_fire_at"], condition=Q(enabled=True), name="routine_due"),
        ]

    def __str__(self) -> str:
        return self.name


class RoutineFire(models.Model):
    """One due time of a routine, and the issue it opened or why it opened none."""

    routine = models.ForeignKey(Routine, on_delete=models.CASCADE, related_name="fires")
    due_at = models.DateTimeField()
    fired_at = models.DateTimeField(auto_now_add=True)
    issue = models.ForeignKey("issues.Issue", on_delete=models.SET_NULL, null=True, related_name="+")
    skipped_because = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["routine", "due_at"], name="routine_fires_once")]

    def __str__(self) -> str:
        return f"{self.routine_id} at {self.due_at:%Y-%m-%d %H:%M}"
