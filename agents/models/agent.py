"""A worker."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from agents.adapters.thinking import ThinkingLevel
from agents.models.provider import ModelTier

ROUTING_ROLES = ("triage",)
"""Roles whose job is to hand work on."""

ROLE_THINKING = {"triage": ThinkingLevel.OFF}
"""How much a role thinks where nothing is said for the agent. Handing work on takes a look, whatever the company's
default."""


class AgentStatus(models.TextChoices):
    ACTIVE = "active", "Active"
    PAUSED = "paused", "Paused"
    PENDING = "pending", "Pending"
    TERMINATED = "terminated", "Terminated"


class Adapter(models.TextChoices):
    """How an agent's heartbeat is answered."""

    LLM = "llm", "Model"
    EXTERNAL = "external", "Outside agent"
    CLAUDE_LOCAL = "claude_local", "Claude Code"
    CODEX_LOCAL = "codex_local", "Codex"
    PROCESS = "process", "Command"


PROGRAMS = frozenset({Adapter.CLAUDE_LOCAL, Adapter.CODEX_LOCAL, Adapter.PROCESS})
"""Those that run a program on the server: see `agents/programs`."""


class Tier(models.TextChoices):
    """How much of the fixed text a prompt spends; empty: by the model's window."""

    FULL = "full", "Full"
    LEAN = "lean", "Lean"


class PolicyPreset(models.TextChoices):
    PROBATION = "probation", "Probation"
    STANDARD = "standard", "Standard"
    TRUSTED = "trusted", "Trusted"


class AgentQuerySet(models.QuerySet["Agent"]):
    def active(self) -> AgentQuerySet:
        return self.filter(status=AgentStatus.ACTIVE)

    def present(self) -> AgentQuerySet:
        """All that were not terminated."""
        return self.exclude(status=AgentStatus.TERMINATED)

    def routing(self) -> AgentQuerySet:
        return self.filter(role__in=ROUTING_ROLES)


class Agent(models.Model):
    """A worker with a place in the reporting line and a way to be asked (adapter, provider, model)."""

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="agents")
    name = models.CharField(max_length=120)
    handle = models.CharField(max_length=40)
    role = models.CharField(max_length=60, blank=True, help_text="`triage` hands work on.")
    title = models.CharField(max_length=120, blank=True)
    description = models.CharField(max_length=300, blank=True, help_text="One line, for rosters.")
    instructions = models.TextField(blank=True)
    knowledge = models.TextField(blank=True, max_length=15_000)
    manager = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="reports")
    status = models.CharField(max_length=10, choices=AgentStatus, default=AgentStatus.ACTIVE)
    adapter = models.CharField(max_length=20, choices=Adapter, default=Adapter.LLM)
    model_tier = models.CharField(
        max_length=10, blank=True, choices=ModelTier, help_text="Instead of a provider and a model of its own."
    )
    provider = models.CharField(
        max_length=40, blank=True, help_text="By its name: openai, anthropic, scripted, or one of the company's own."
    )
    model = models.CharField(max_length=120, blank=True, help_text="Empty: the provider's.")
    script = models.TextField(blank=True, help_text="The replies of a scripted agent.")
    command = models.CharField(
        max_length=1_000, blank=True, help_text="The program that is run on the server, with its arguments."
    )
    tier = models.CharField(max_length=4, choices=Tier, blank=True)
    thinking = models.CharField(
        max_length=10,
        blank=True,
        choices=[(level.value, level.value.capitalize()) for level in ThinkingLevel],
        help_text="How much the model is asked to think; empty: as its role or the company.",
    )
    max_output_tokens = models.PositiveIntegerField(null=True, blank=True)
    policy = models.CharField(max_length=10, choices=PolicyPreset, default=PolicyPreset.STANDARD)
    max_concurrent_runs = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    schedule_minutes = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(5), MaxValueValidator(1_440)],
        help_text="Looks for work of its own this often; empty: never.",
    )
    active_hours = models.CharField(
        max_length=11,
        blank=True,
        help_text="As 08:00-18:00 in the company's zone: when it does so; empty: at any hour.",
    )
    next_schedule_at = models.DateTimeField(null=True, blank=True)
    idle_rounds = models.PositiveIntegerField(default=0, help_text="How often its interval found no work.")
    idle_round_at = models.DateTimeField(null=True, blank=True, help_text="When it did so last.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "handle"], name="agent_handle_once"),
            models.CheckConstraint(condition=Q(status__in=AgentStatus.values), name="agent_status_known"),
            models.CheckConstraint(condition=Q(policy__in=PolicyPreset.values), name="agent_policy_known"),
            models.CheckConstraint(condition=Q(manager=None) | ~Q(manager=F("id")), name="agent_not_its_own_manager"),
            models.CheckConstraint(condition=Q(max_concurrent_runs__gte=1), name="agent_may_run"),
            models.CheckConstraint(
                condition=Q(model_tier="") | Q(model_tier__in=ModelTier.values, provider="", model=""),
                name="agent_names_tier_or_model",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_schedule_at"],
                condition=Q(next_schedule_at__isnull=False),
                name="agent_scheduled",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} (@{self.handle})"

    @property
    def is_active(self) -> bool:
        return self.status == AgentStatus.ACTIVE

    @property
    def is_present(self) -> bool:
        """Whether it was not terminated."""
        return self.status != AgentStatus.TERMINATED

    @property
    def is_routing(self) -> bool:
        return self.role in ROUTING_ROLES

    @property
    def thinking_level(self) -> ThinkingLevel:
        """The agent's own, else its role's, else the company's, else off."""
        return ThinkingLevel(
            self.thinking or ROLE_THINKING.get(self.role) or self.company.default_thinking or ThinkingLevel.OFF
        )

    @property
    def is_program(self) -> bool:
        """Whether it is a program that runs on the server."""
        return self.adapter in PROGRAMS

    @property
    def is_scripted(self) -> bool:
        """Whether no model is asked: the board says "scripted, no model"."""
        return self.provider == "scripted"
