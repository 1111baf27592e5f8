"""What a long issue came to: the record that stands in a prompt for comments there is no room for."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from agents.models.agent import Agent


class Checkpoint(models.Model):
    """One state of the record of an issue. States are never changed: the next one has the next number.

    One with a `problem` is a try that came to nothing, and has no fields.
    """

    issue = models.ForeignKey("issues.Issue", on_delete=models.CASCADE, related_name="checkpoints")
    number = models.PositiveIntegerField(help_text="From 1; a try has the number that it would have become.")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+", help_text="Whose provider wrote it.")
    until = models.ForeignKey(
        "issues.Comment", on_delete=models.CASCADE, related_name="+", help_text="The last comment summed up."
    )
    comments = models.PositiveIntegerField(help_text="How many comments there are until then.")
    fields = models.JSONField(default=dict, blank=True)
    problem = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["issue", "number"], condition=Q(problem=""), name="checkpoint_number_once")
        ]

    def __str__(self) -> str:
        return f"checkpoint {self.number} of {self.issue_id}"
