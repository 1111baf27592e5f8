"""Files that people attach, and the content-addressed bytes behind every file."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from issues.models.company import Company
from issues.models.flagged import Flagged
from issues.models.issue import Issue


class FileUse(models.Model):
    """How much of its quota a company's files take: attachments and every version of workspace files.

    A row of its own, not a column of the company: it is held by whoever adds a file, to the end of a reply's
    transaction, and claims hold the company.
    """

    company = models.OneToOneField(Company, on_delete=models.CASCADE, primary_key=True, related_name="file_use")
    bytes = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.company_id}: {self.bytes:,} bytes"


class Blob(models.Model):
    """Bytes stored once under their SHA-256 in the data directory."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    created_at = models.DateTimeField(auto_now_add=True)
    kept_at = models.DateTimeField(
        default=timezone.now, db_index=True, help_text="When somebody last stored these bytes, to an hour."
    )

    def __str__(self) -> str:
        return self.sha256[:12]


class Extraction(models.TextChoices):
    """What became of an attachment's text."""

    DONE = "done", "Read"
    UNSUPPORTED = "unsupported", "Not a kind that can be read"
    FAILED = "failed", "Could not be read"
    PENDING = "pending", "Not read yet"


class Attachment(Flagged):
    """A file on an issue, with the text that agents are shown of it."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="attachments")
    uploaded_by = models.ForeignKey(
        "issues.Member", on_delete=models.PROTECT, null=True, blank=True, related_name="attachments"
    )
    name = models.CharField(max_length=255)
    media_type = models.CharField(max_length=120)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="attachments")
    extraction = models.CharField(max_length=12, choices=Extraction)
    why_unread = models.CharField(max_length=200, blank=True, help_text="What kept its text from being read.")
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name
