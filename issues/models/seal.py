"""The seals of the audit: each closes some lines of a company, and stands on the one before."""

from __future__ import annotations

from django.db import models

from issues.models.company import Company


class AuditSeal(models.Model):
    """A link of the chain of one company's audit. Written by the tick; a database trigger refuses any other write.

    `marks` has 40 bytes for each line in the order of sealing: its id, and the SHA-256 of what it says after the mark
    of the line before; the first mark stands on the last of the seal before and on `sealed_at`. So the last mark stands
    for the whole chain.
    """

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="seals")
    number = models.PositiveIntegerField(help_text="Counts from 1 in each company.")
    lines = models.PositiveIntegerField(help_text="How many it closes.")
    last_line = models.BigIntegerField(db_index=True, help_text="The highest id of a line up to here.")
    marks = models.BinaryField()
    head = models.CharField(max_length=64, help_text="The last mark, in hexadecimal digits.")
    sealed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "number"], name="audit_seal_once")]

    def __str__(self) -> str:
        return f"seal {self.number} of {self.company_id}"
