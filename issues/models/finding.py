"""What an agent recorded as worth keeping."""

from __future__ import annotations

from django.db import models

from issues.models.flagged import Flagged
from issues.models.issue import Issue


class Finding(Flagged):
    """A result on an issue, shown to the agent of the issue's parent."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="findings")
    agent = models.ForeignKey("agents.Agent", on_delete=models.PROTECT, related_name="findings")
    run = models.ForeignKey("agents.Run", on_delete=models.SET_NULL, null=True, blank=True, related_name="findings")
    title = models.CharField(max_length=300, blank=True)
    body = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.title or f"finding {self.pk}"
