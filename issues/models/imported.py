"""Where issues came from."""

from __future__ import annotations

from django.db import models
from django.db.models import Exists, OuterRef

from issues.models.company import Company
from issues.models.issue import Issue


class ImportedIssue(models.Model):
    """An issue of another tracker that was brought here, once. It stays known when the issue is deleted here."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="imported_issues")
    source = models.CharField(max_length=300, help_text="Where it is from: the tracker and its identifier there.")
    issue = models.ForeignKey(Issue, on_delete=models.SET_NULL, null=True, blank=True, related_name="sources")
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "source"], name="imported_issue_once")]

    def __str__(self) -> str:
        return self.source


def was_brought() -> Exists:
    """Of a comment, whether it came with its issue: it is older there than the issue is here."""
    return Exists(ImportedIssue.objects.filter(issue=OuterRef("issue"), imported_at__gte=OuterRef("created_at")))
