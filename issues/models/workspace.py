"""The files an issue's agents write. The rows are the truth; the directory on disk is made from them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.models.attachment import Blob
from issues.models.flagged import Flagged
from issues.models.issue import Issue


class WorkspaceFile(models.Model):
    """A path in an issue's workspace, at its newest version."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=1_000, help_text="Relative, with forward slashes.")
    key = models.CharField(max_length=1_000, help_text="The path in NFC and case-folded: two names cannot collide.")
    updated_at = models.DateTimeField(auto_now=True)
    is_made = models.BooleanField(default=False, help_text="Whether its newest version lies in the folder on disk.")
    unmade_because = models.CharField(max_length=200, blank=True, help_text="What kept it from being written there.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issue", "key"], name="workspace_path_once")]
        indexes = [models.Index(fields=["issue"], condition=Q(is_made=False), name="workspace_unmade")]

    def __str__(self) -> str:
        return self.path


class FileVersion(Flagged):
    """One content of a workspace file. Versions count from 1 and are never changed."""

    file = models.ForeignKey(WorkspaceFile, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="file_versions")
    agent = models.ForeignKey("agents.Agent", on_delete=models.PROTECT, null=True, related_name="+")
    run = models.ForeignKey("agents.Run", on_delete=models.SET_NULL, null=True, related_name="file_versions")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="file_version_once")]

    def __str__(self) -> str:
        return f"{self.file_id} v{self.number}"
