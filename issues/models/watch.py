"""Who follows an issue."""

from __future__ import annotations

from django.db import models

from issues.models.issue import Issue


class Watch(models.Model):
    """A member who wants to hear how an issue comes on, without being asked for anything there."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="watches")
    member = models.ForeignKey("issues.Member", on_delete=models.CASCADE, related_name="watches")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "watches"
        constraints = [models.UniqueConstraint(fields=["issue", "member"], name="watch_once")]

    def __str__(self) -> str:
        return f"{self.member_id} follows {self.issue_id}"
