"""Texts in which secrets are flagged."""

from __future__ import annotations

from django.db import models


class Flagged(models.Model):
    """A row with a text that people or agents wrote. `issues.flagging` says what stands in the column."""

    secret_kinds = models.CharField(
        max_length=300,
        blank=True,
        editable=False,
        help_text="Kinds of secrets that its text seems to hold, comma-separated. Agents see them masked.",
    )

    class Meta:
        abstract = True

    @property
    def secrets(self) -> list[str]:
        """The kinds of secrets that its text seems to hold."""
        return self.secret_kinds.split(", ") if self.secret_kinds else []
