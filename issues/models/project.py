"""What issues are sorted by: projects and labels."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower

from issues.models.company import Company


class Project(models.Model):
    """A body of work. Its description and rules stand in the assignment of its issues."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="projects")
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, max_length=10_000)
    rules = models.TextField(blank=True, max_length=10_000, help_text="What agents keep to in this project.")
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint("company", Lower("name"), name="project_name_once")]

    def __str__(self) -> str:
        return self.name


class Label(models.Model):
    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="labels")
    name = models.CharField(max_length=60)
    colour = models.CharField(max_length=7, default="#7a7f87")

    class Meta:
        constraints = [models.UniqueConstraint("company", Lower("name"), name="label_name_once")]

    def __str__(self) -> str:
        return self.name
