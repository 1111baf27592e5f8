"""What an agent was told to be, over time."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from agents.models.agent import Agent


class InstructionsVersion(models.Model):
    """An agent's instructions as somebody saved them. Without an author it was Trimus, or before versions were kept."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="instructions_versions")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    member = models.ForeignKey("issues.Member", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    by_agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    written_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "number"], name="instructions_version_once"),
            models.CheckConstraint(condition=Q(member=None) | Q(by_agent=None), name="instructions_one_author"),
        ]

    def __str__(self) -> str:
        return f"instructions {self.number} of agent {self.agent_id}"
