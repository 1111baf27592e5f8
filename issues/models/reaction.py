"""A word on a comment by one click."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.models.comment import Comment


class ReactionKind(models.TextChoices):
    """The whole set, in the order in which pages offer it."""

    AGREE = "agree", "Agree"
    DISAGREE = "disagree", "Disagree"
    THANKS = "thanks", "Thanks"
    LOOKING = "looking", "Looking at it"
    UNCLEAR = "unclear", "Unclear"


class Reaction(models.Model):
    """What a member made of a comment. It wakes nobody and is told to nobody."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="reactions")
    member = models.ForeignKey("issues.Member", on_delete=models.CASCADE, related_name="reactions")
    kind = models.CharField(max_length=10, choices=ReactionKind)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comment", "member", "kind"], name="reaction_once"),
            models.CheckConstraint(condition=Q(kind__in=ReactionKind.values), name="reaction_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.member_id} on comment {self.comment_id}"
