"""A selection of issues that somebody comes back to."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower

from issues.models.company import Company, Member

FILTERS = (
    "text", "status", "priority", "assignee", "label", "project", "parent", "due", "opened", "changed", "only", "group",
    "sort",
)  # fmt: skip
"""What the address of a board or list can select and arrange by."""


class SavedView(models.Model):
    """A named selection: the filters of a board's or list's address. Shared ones are offered to the whole company."""

    class Page(models.TextChoices):
        BOARD = "board", "Board"
        LIST = "issues", "List"

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="saved_views")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=60)
    page = models.CharField(max_length=6, choices=Page, default=Page.BOARD)
    query = models.CharField(max_length=1_000, blank=True, help_text="The filters, as the address has them.")
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("member", Lower("name"), name="saved_view_name_once"),
            models.CheckConstraint(
                condition=models.Q(page__in=("board", "issues")), name="saved_view_page_known"
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.name
