"""What a company lets its agents do otherwise than their presets say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from issues.models.company import Company
from issues.prepared import Prepared
from issues.texts import fold

if TYPE_CHECKING:
    from agents.models import Agent


class Grant(models.TextChoices):
    ALLOW = "allow", "Allow"
    APPROVAL = "approval", "Ask the board"
    DENY = "deny", "Deny"


class PolicyRuleQuerySet(models.QuerySet["PolicyRule"]):
    def grants_for(self, agent: Agent) -> Mapping[str, Grant]:
        """What holds for the agent, by permission: a rule for it beats one for its role, and that one for all."""
        if not _of_company.finds_any(agent.company_id):  # as in most
            return {}
        rules = self.filter(company=agent.company_id).holding(role=agent.role, agent=agent)
        return {permission: Grant(rule.grant) for permission, rule in rules.items()}

    def holding(self, *, role: str = "", agent: Agent | None = None) -> Mapping[str, PolicyRule]:
        """The closest rule on each permission for an agent, a role, or without either for all agents."""
        concerned = Q(agent=None, role__in={"", fold(role)})
        if agent is not None:
            concerned |= Q(agent=agent)
        return {rule.permission: rule for rule in sorted(self.filter(concerned), key=lambda rule: rule.closeness)}


class PolicyRule(models.Model):
    """One permission moved between allow, ask and deny, for all agents of a company, for a role or for one agent."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="policy_rules")
    role = models.CharField(max_length=60, blank=True, help_text="Case-folded; empty: whatever the role.")
    agent = models.ForeignKey(
        "agents.Agent", on_delete=models.CASCADE, null=True, blank=True, related_name="policy_rules"
    )
    permission = models.CharField(max_length=40, help_text="A verb, or what else an agent can be allowed.")
    grant = models.CharField(max_length=10, choices=Grant)
    made_by = models.ForeignKey("issues.Member", on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    approval = models.ForeignKey(
        "issues.Approval",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="policy_rules",
        help_text="The answer that made it.",
    )

    objects = PolicyRuleQuerySet.as_manager()

    class Meta:
        ordering = ["permission", "role", "agent"]
        constraints = [
            models.UniqueConstraint(
                fields=["company", "permission"], condition=Q(agent=None, role=""), name="policy_rule_once_for_all"
            ),
            models.UniqueConstraint(
                fields=["company", "permission", "role"],
                condition=Q(agent=None) & ~Q(role=""),
                name="policy_rule_once_per_role",
            ),
            models.UniqueConstraint(
                fields=["agent", "permission"], condition=Q(agent__isnull=False), name="policy_rule_once_per_agent"
            ),
            models.CheckConstraint(condition=Q(agent=None) | Q(role=""), name="policy_rule_one_scope"),
            models.CheckConstraint(condition=Q(grant__in=Grant.values), name="policy_rule_grant_known"),
        ]

    def __str__(self) -> str:
        return f"{self.permission}: {self.grant}"

    @property
    def closeness(self) -> int:
        """How closely it names whom it holds for: all, a role, one agent."""
        return 2 if self.agent_id is not None else int(bool(self.role))


_of_company = Prepared(lambda company: PolicyRule.objects.filter(company=company).values_list("pk")[:1])
