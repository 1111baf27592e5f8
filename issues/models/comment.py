"""What people and agents write on an issue."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.models.flagged import Flagged
from issues.models.issue import Issue


class Comment(Flagged):
    """Markdown text on an issue by a member or an agent; a person can pin it."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="comments")
    author_member = models.ForeignKey(
        "issues.Member", on_delete=models.PROTECT, null=True, blank=True, related_name="comments"
    )
    author_agent = models.ForeignKey(
        "agents.Agent", on_delete=models.PROTECT, null=True, blank=True, related_name="comments"
    )
    run = models.ForeignKey("agents.Run", on_delete=models.SET_NULL, null=True, blank=True, related_name="comments")
    body = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    pinned_at = models.DateTimeField(null=True, blank=True)
    pinned_by = models.ForeignKey("issues.Member", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(author_member=None, author_agent__isnull=False)
                | Q(author_member__isnull=False, author_agent=None),
                name="comment_one_author",
            ),
            models.CheckConstraint(condition=~Q(body=""), name="comment_not_empty"),
        ]
        indexes = [
            models.Index(fields=["issue", "id"], name="comment_timeline"),
            models.Index(fields=["issue"], condition=Q(pinned_at__isnull=False), name="comment_pinned"),
        ]

    def __str__(self) -> str:
        return f"comment {self.pk} on {self.issue_id}"

    @property
    def is_brought(self) -> bool:
        """Whether it came with its issue from elsewhere. Known of rows that were read with `brought=was_brought()`."""
        return bool(getattr(self, "brought", False))


class CommentVersion(models.Model):
    """What a comment said before it was edited, but for secrets. Deleting the comment erases these, too."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="versions")
    body = models.TextField()
    written_at = models.DateTimeField(help_text="From when on the comment said this.")

    def __str__(self) -> str:
        return f"comment {self.comment_id} as of {self.written_at:%Y-%m-%d %H:%M}"
