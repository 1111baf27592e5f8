"""What an agent keeps for itself from one run to the next."""

from __future__ import annotations

from typing import TypeVar

from django.db import models

from agents.models.agent import Agent
from agents.models.run import Run
from issues.models.company import Company
from issues.texts import fold

Kept = TypeVar("Kept", "Note", "Observation")


class KeptQuerySet(models.QuerySet[Kept]):
    """What agents keep. There is little of it for each agent, so that words are looked for in all of it."""

    def holding(self, words: str) -> models.QuerySet[Kept]:
        """Those that hold all of the words, each anywhere, whatever the case of their letters."""
        wanted = fold(words).split()
        if not wanted:
            return self
        texts = self.values_list("pk", *self.model.searched)
        fitting = [pk for pk, *said in texts if all(word in fold(" ".join(said)) for word in wanted)]
        return self.filter(pk__in=fitting)


class Note(models.Model):
    """A working note under a key. The agent is shown all of its notes in every prompt."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="notes")
    key = models.CharField(max_length=60, help_text="As written.")
    folded_key = models.CharField(max_length=180, help_text="The form in which keys are compared.")
    text = models.TextField(max_length=2_000)
    written_at = models.DateTimeField()
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    searched = ("key", "text")

    objects = KeptQuerySet["Note"].as_manager()

    class Meta:
        ordering = ["-written_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["agent", "folded_key"], name="note_key_once_per_agent")]

    def __str__(self) -> str:
        return self.key

    @property
    def company(self) -> Company:
        return self.agent.company


class Observation(models.Model):
    """Something an agent noticed. It never changes it; of all that are kept a prompt shows the few that fit it."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="observations")
    issue = models.ForeignKey(
        "issues.Issue", on_delete=models.SET_NULL, null=True, blank=True, related_name="observations"
    )
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    text = models.CharField(max_length=1_000)
    made_at = models.DateTimeField()

    searched = ("text",)

    objects = KeptQuerySet["Observation"].as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["agent", "-id"], name="observation_agent")]

    def __str__(self) -> str:
        return self.text

    @property
    def company(self) -> Company:
        return self.agent.company
