"""Know-how that agents can apply."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower


class SkillQuerySet(models.QuerySet["Skill"]):
    def for_agent(self, agent_id: int) -> SkillQuerySet:
        """Enabled skills of the agent's company that are for everybody or name the agent."""
        return (
            self.filter(enabled=True, company__agents=agent_id)
            .filter(Q(agents=None) | Q(agents=agent_id))
            .distinct()
            .order_by("name")
        )


class Skill(models.Model):
    """A named Markdown body that agents of the company can apply. Without agents named it is for all."""

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="skills")
    name = models.CharField(max_length=80)
    description = models.CharField(max_length=300, blank=True)
    body = models.TextField()
    enabled = models.BooleanField(default=True)
    agents = models.ManyToManyField("agents.Agent", blank=True, related_name="skills")
    updated_at = models.DateTimeField(auto_now=True)

    objects = SkillQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint("company", Lower("name"), name="skill_name_once")]

    def __str__(self) -> str:
        return self.name
