"""Hooks in: addresses at which forms and alerts of other programs open issues."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from issues.models.company import Company
from issues.models.issue import Priority
from issues.models.project import Label, Project


class Hook(models.Model):
    """An address that opens an issue from a template. Only the SHA-256 of its token is kept, with a prefix for look-up.
    A removed hook's row stays: what it opened keeps its author."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="hooks")
    name = models.CharField(max_length=120, help_text="As it stands beside what it opens.")
    title = models.CharField(max_length=300, help_text="Of the issue, with {{fields}} of what comes in.")
    description = models.TextField(blank=True, help_text="The same.")
    priority = models.PositiveSmallIntegerField(choices=Priority, default=Priority.NONE)
    project = models.ForeignKey(Project, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    labels = models.ManyToManyField(Label, blank=True, related_name="+")
    assignee_agent = models.ForeignKey(
        "agents.Agent", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    assignee_member = models.ForeignKey(
        "issues.Member", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    responsible = models.ForeignKey(
        "issues.Member", on_delete=models.PROTECT, related_name="+", help_text="Who answers for what it opens."
    )
    id_field = models.CharField(
        max_length=200, blank=True, help_text="The field that names what comes in: the same one opens no second issue."
    )
    per_hour = models.PositiveSmallIntegerField(
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(1_000)],
        help_text="Issues in an hour at most; more are refused until it is over.",
    )
    enabled = models.BooleanField(default=True)
    prefix = models.CharField(max_length=12, unique=True, editable=False)
    token_hash = models.CharField(max_length=64, editable=False)
    hour_began_at = models.DateTimeField(null=True, blank=True, editable=False)
    opened_in_hour = models.PositiveIntegerField(default=0, editable=False)
    opened = models.PositiveIntegerField(default=0, editable=False, help_text="Issues that it has opened.")
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(assignee_agent=None) | Q(assignee_member=None), name="hook_one_assignee"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def label_names(self) -> list[str]:
        return [label.name for label in self.labels.all()]


class HookCall(models.Model):
    """What opened an issue. One that named itself, by an idempotency key or a field, is known by a hash of that."""

    hook = models.ForeignKey(Hook, on_delete=models.CASCADE, related_name="calls")
    key_hash = models.CharField(max_length=64, blank=True, editable=False)
    identifier = models.CharField(max_length=24, help_text="Of the issue, also when it is deleted.")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hook", "key_hash"], condition=~Q(key_hash=""), name="hook_call_once"),
        ]
        indexes = [models.Index(fields=["made_at"], name="hook_call_made")]

    def __str__(self) -> str:
        return f"{self.hook_id}: {self.identifier}"
