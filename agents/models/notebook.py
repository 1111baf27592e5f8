"""What an agent keeps for itself from one run to the next."""

from __future__ import annotations

from django.db import models

from agents.models.agent import Agent
from agents.models.run import Run


class Note(models.Model):
    """A working note under a key. The agent is shown all of its notes in every prompt."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="notes")
    key = models.CharField(max_length=60, help_text="As written.")
    folded_key = models.CharField(max_length=180, help_text="The form in which keys are compared.")
    text = models.TextField(max_length=2_000)
    written_at = models.DateTimeField()
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["-written_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["agent", "folded_key"], name="note_key_once_per_agent")]

    def __str__(self) -> str:
        return self.key


class Observation(models.Model):
    """Something an agent noticed. Never changed; of all that are kept a prompt shows the few that fit it."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="observations")
    issue = models.ForeignKey(
        "issues.Issue", on_delete=models.SET_NULL, null=True, blank=True, related_name="observations"
    )
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    text = models.CharField(max_length=1_000)
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["agent", "-id"], name="observation_agent")]

    def __str__(self) -> str:
        return self.text
