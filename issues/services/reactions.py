"""A word on a comment by one click. It wakes nobody and is told to nobody."""

from __future__ import annotations

from issues.activity import record
from issues.actors import Actor
from issues.effects import service
from issues.models import Comment, Member, Reaction, ReactionKind
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden


@service
def react(*, actor: Actor, comment: Comment, kind: ReactionKind) -> None:
    """Say this of the comment. Twice is once."""
    member = _member(actor, comment)
    if comment.deleted_at is not None:
        raise Conflict("The comment was deleted.")
    _, is_new = Reaction.objects.get_or_create(comment=comment, member=member, kind=kind)
    if is_new:
        record(actor, "comment.reacted", comment.issue, comment=comment.pk, reaction=kind)


@service
def take_back_reaction(*, actor: Actor, comment: Comment, kind: ReactionKind) -> None:
    """Say it no longer."""
    member = _member(actor, comment)
    gone, _ = Reaction.objects.filter(comment=comment, member=member, kind=kind).delete()
    if gone:
        record(actor, "comment.unreacted", comment.issue, comment=comment.pk, reaction=kind)


def _member(actor: Actor, comment: Comment) -> Member:
    member = require(actor, Right.EDIT, comment.issue)
    if member is None:
        raise Forbidden("Only people react to comments.")
    return member
