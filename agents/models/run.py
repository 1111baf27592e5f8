"""One heartbeat of one agent on one issue, with all it saw, said, changed and cost."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class RunState(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"
    LOST = "lost", "Lost"


LIVE = (RunState.QUEUED, RunState.RUNNING)


class RunQuerySet(models.QuerySet["Run"]):
    def live(self) -> RunQuerySet:
        return self.filter(state__in=LIVE)


class Run(models.Model):
    """A run. While it is live its row is the issue's checkout: a partial unique constraint allows one.

    The reply is stored before it is read, and `applied_at` is set in the transaction that applies it: a crash before
    is resumed from the stored reply, a crash after does nothing twice. `attempt` fences off an older worker.
    """

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="runs")
    agent = models.ForeignKey("agents.Agent", on_delete=models.PROTECT, related_name="runs")
    issue = models.ForeignKey("issues.Issue", on_delete=models.SET_NULL, null=True, related_name="runs")
    state = models.CharField(max_length=10, choices=RunState, default=RunState.QUEUED)
    adapter = models.CharField(max_length=20)
    provider = models.CharField(max_length=40, blank=True, help_text="Asked first.")
    model = models.CharField(max_length=120, blank=True, help_text="Asked for first.")
    answered_provider = models.CharField(max_length=40, blank=True, help_text="The provider that answered.")
    answered_model = models.CharField(max_length=120, blank=True, help_text="The model that answered.")
    endpoint = models.CharField(max_length=64, blank=True, help_text="Whom it asks: a hash of address and credential.")
    scenario = models.CharField(max_length=10, blank=True)
    depth = models.PositiveSmallIntegerField(default=0)
    chain = models.BigIntegerField(null=True, blank=True, db_index=True)
    chain_member = models.ForeignKey(
        "issues.Member", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    attempt = models.PositiveSmallIntegerField(default=1)
    lease_counter = models.PositiveIntegerField(default=0, help_text="Moved by the worker at each renewal.")
    lease_seconds = models.PositiveIntegerField(default=120)
    deadline_at = models.DateTimeField(help_text="The lease is not renewed after this.")

    system_message = models.TextField(blank=True)
    user_message = models.TextField(blank=True)
    prompt_sections = models.JSONField(default=list, blank=True, help_text="Title, bytes and place of each section.")
    prompt_facts = models.JSONField(
        default=dict, blank=True, help_text="Tokens, deferred sections, skills shown whole, characters stripped."
    )
    contract_hash = models.CharField(max_length=64, blank=True)
    instructions_hash = models.CharField(max_length=64, blank=True)
    skills_hash = models.CharField(max_length=64, blank=True)
    prompt_built_at = models.DateTimeField(null=True, blank=True)
    reply = models.TextField(null=True, blank=True, help_text="Exactly as received; null before.")
    replied_at = models.DateTimeField(null=True, blank=True)
    dropped = models.JSONField(default=list, blank=True, help_text="Lines of the reply that did not act, and why.")
    hint = models.CharField(max_length=300, blank=True, help_text="Said in the agent's next prompt here.")
    stop_reason = models.CharField(max_length=20, blank=True)
    session = models.CharField(
        max_length=200, blank=True, help_text="The program's, with which the agent's next run here goes on."
    )

    input_tokens = models.PositiveIntegerField(default=0, help_text="All input, cached included.")
    cached_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    cost_microdollars = models.BigIntegerField(null=True, blank=True, help_text="Null: no known price.")

    error_kind = models.CharField(max_length=30, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    applied_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey("issues.Member", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["issue"], condition=Q(state__in=("queued", "running")), name="run_one_live_per_issue"
            ),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="run_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=("queued", "running"), ended_at=None)
                | (~Q(state__in=("queued", "running")) & Q(ended_at__isnull=False)),
                name="run_ended_at_with_state",
            ),
            models.CheckConstraint(
                condition=Q(applied_at=None) | Q(reply__isnull=False) | Q(adapter="external"),
                name="run_applied_has_reply",
            ),
        ]
        indexes = [
            models.Index(fields=["company", "-id"], name="run_company"),
            models.Index(fields=["agent", "-id"], name="run_agent"),
            models.Index(fields=["issue", "-id"], name="run_issue"),
            models.Index(fields=["state"], condition=Q(state__in=("queued", "running")), name="run_live"),
            models.Index(fields=["-ended_at"], condition=Q(ended_at__isnull=False), name="run_ended"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def is_live(self) -> bool:
        return self.state in LIVE


HEARTBEAT = "heartbeat"
"""The purpose of a run's own calls."""


class ModelCall(models.Model):
    """One call of a model, for a run or beside one. It counts in budgets whatever became of it."""

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="model_calls")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, blank=True, related_name="calls")
    purpose = models.CharField(max_length=20, default=HEARTBEAT)
    attempt = models.PositiveSmallIntegerField(default=1)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120)
    answered_model = models.CharField(max_length=120, blank=True)
    request_id = models.CharField(max_length=200, blank=True, help_text="The provider's.")
    stop_reason = models.CharField(max_length=20, blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    cache_write_tokens = models.PositiveIntegerField(default=0, help_text="Of the input, kept by the provider.")
    output_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    cost_microdollars = models.BigIntegerField(null=True, blank=True)
    price = models.JSONField(
        default=dict,
        blank=True,
        help_text="Dollars a million tokens by which the cost was reckoned, as decimals in text; empty: unknown.",
    )
    error_kind = models.CharField(max_length=30, blank=True)
    error = models.TextField(blank=True)
    started_at = models.DateTimeField()
    seconds = models.FloatField(default=0)
    tries = models.PositiveSmallIntegerField(default=1, help_text="Requests that it took, the failed ones included.")

    class Meta:
        indexes = [models.Index(fields=["company", "started_at"], name="model_call_company")]

    def __str__(self) -> str:
        return f"call {self.pk} of {self.model}"


class ActionOutcome(models.TextChoices):
    APPLIED = "applied", "Applied"
    DENIED = "denied", "Denied"
    FAILED = "failed", "Failed"
    APPROVAL = "approval", "Waits for approval"


class RunAction(models.Model):
    """A verb of a reply with what became of it. (run, ordinal) is its key: applying it twice is impossible."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="actions")
    ordinal = models.PositiveSmallIntegerField(help_text="Place in the reply, from 0.")
    line = models.PositiveIntegerField(help_text="Line of the reply, from 1.")
    verb = models.CharField(max_length=40)
    args = models.TextField(blank=True)
    body = models.TextField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=ActionOutcome)
    reason = models.CharField(max_length=500, blank=True)
    summary = models.CharField(max_length=500, blank=True, help_text="What it did, in words.")
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    issue = models.ForeignKey(
        "issues.Issue",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The issue it acted on or made.",
    )
    approval = models.ForeignKey(
        "issues.Approval", on_delete=models.SET_NULL, null=True, blank=True, related_name="actions"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["run", "ordinal"], name="run_action_once"),
            models.CheckConstraint(condition=Q(outcome__in=ActionOutcome.values), name="run_action_outcome_known"),
        ]

    def __str__(self) -> str:
        return f"/{self.verb} {self.args}"
