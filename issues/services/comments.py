"""Comments: writing, changing, pinning."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone

from issues.activity import record
from issues.actors import Actor, Person, Worker
from issues.effects import Wake, service, wake
from issues.flagging import secret_kinds, without_secrets
from issues.models import Comment, CommentVersion, InboxKind, Issue, Member
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden, Invalid
from issues.services.approvals import answer_open_questions
from issues.services.inbox import settle_issue
from issues.services.mentions import Mentioned, mentioned_in, wake_mentioned
from issues.services.watching import follow, tell_answered
from issues.sources import WakeupSource
from issues.texts import check_text

if TYPE_CHECKING:
    from agents.models import Agent


@dataclass(frozen=True, slots=True)
class WakePreview:
    """What a comment would do: which agents it wakes and why, whom it tells, and @words that name nobody or several."""

    mentioned: tuple[Agent, ...]
    assignee: Agent | None
    members: tuple[Member, ...]
    unknown: tuple[str, ...]
    ambiguous: tuple[str, ...]

    @property
    def woken(self) -> tuple[Agent, ...]:
        return self.mentioned if self.assignee is None else (*self.mentioned, self.assignee)


@service
def write_comment(
    *, actor: Actor, issue: Issue, body: str, without: Collection[str] = (), speech: str | None = None
) -> Comment:
    """Post a comment. It wakes the agents it mentions and tells the people.

    A person's comment that mentions no other agent also wakes the assignee; it answers an open question, says how
    stopped work goes on, and lets its author follow the issue. An agent's is told to those whom it answers. `without`
    are handles not to be called; `speech` is what mentions are read from, where that is not the whole body.
    """
    member = require(actor, Right.COMMENT, issue)
    comment = Comment(issue=issue, body=check_text(body, "comment", required=True), author_member=member)
    if isinstance(actor, Worker):
        comment.author_agent = actor.agent
        comment.run = actor.run
    elif member is None:
        raise Invalid("A comment has an author.")
    comment.secret_kinds = secret_kinds(issue.company, comment.body)
    comment.save(force_insert=True)
    record(actor, "comment.written", issue, comment=comment.pk)
    mentioned = _call(actor, comment, comment.body if speech is None else speech, without=without)
    if isinstance(actor, Worker):
        tell_answered(comment, named=mentioned.members)
    if isinstance(actor, Person) and member is not None:
        follow(issue, [member])
        settle_issue(issue, InboxKind.BLOCKED, InboxKind.STOPPED)
        answer_open_questions(actor, issue, comment)
    return comment


def preview_wakes(*, issue: Issue, body: str) -> WakePreview:
    """What posting this text on the issue as a person would do. Changes nothing."""
    mentioned = mentioned_in(issue.company, body)
    others = [agent for agent in mentioned.agents if agent.pk != issue.assignee_agent_id]
    assignee = _assignee_to_wake(issue) if body.strip() and not others else None
    return WakePreview(
        mentioned=tuple(agent for agent in mentioned.agents if agent.is_active),
        assignee=None if assignee in mentioned.agents else assignee,
        members=mentioned.members,
        unknown=mentioned.unknown,
        ambiguous=mentioned.ambiguous,
    )


@service
def edit_comment(
    *, actor: Actor, comment: Comment, body: str, call: bool = False, without: Collection[str] = ()
) -> Comment:
    """Change the own comment, visibly; what it said before can be read, but for secrets. It wakes nobody, unless `call`
    says so: then whom a new comment would, `without` these handles."""
    comment = _own_comment(actor, comment)
    text = check_text(body, "comment", required=True)
    if text != comment.body:
        written_at = comment.edited_at or comment.created_at
        said = without_secrets(comment.issue.company, comment.body)  # who edits one away wants it gone
        CommentVersion.objects.create(comment=comment, body=said, written_at=written_at)
        comment.body = text
        comment.secret_kinds = secret_kinds(comment.issue.company, text)
        comment.edited_at = timezone.now()
        comment.save(update_fields=["body", "secret_kinds", "edited_at"])
        record(actor, "comment.edited", comment.issue, comment=comment.pk)
    if call:
        _call(actor, comment, comment.body, without=without)
    return comment


@service
def delete_comment(*, actor: Actor, comment: Comment) -> Comment:
    """Erase the own comment's text, with all that it said before; that there was one stays visible."""
    comment = _own_comment(actor, comment)
    comment.versions.all().delete()
    comment.reactions.all().delete()
    comment.body = "(deleted)"
    comment.secret_kinds = ""
    comment.deleted_at = timezone.now()
    comment.pinned_at = comment.pinned_by = None
    comment.save(update_fields=["body", "secret_kinds", "deleted_at", "pinned_at", "pinned_by"])
    record(actor, "comment.deleted", comment.issue, comment=comment.pk)
    return comment


@service
def pin_comment(*, actor: Actor, comment: Comment) -> Comment:
    """Put the comment into every later prompt on this issue, whole. People only."""
    member = require(actor, Right.PIN, comment.issue)
    if comment.deleted_at is not None:
        raise Conflict("The comment was deleted.")
    if comment.pinned_at is None:
        comment.pinned_at = timezone.now()
        comment.pinned_by = member
        comment.save(update_fields=["pinned_at", "pinned_by"])
        record(actor, "comment.pinned", comment.issue, comment=comment.pk)
    return comment


@service
def unpin_comment(*, actor: Actor, comment: Comment) -> Comment:
    require(actor, Right.PIN, comment.issue)
    if comment.pinned_at is not None:
        comment.pinned_at = comment.pinned_by = None
        comment.save(update_fields=["pinned_at", "pinned_by"])
        record(actor, "comment.unpinned", comment.issue, comment=comment.pk)
    return comment


def _call(actor: Actor, comment: Comment, speech: str, *, without: Collection[str] = ()) -> Mentioned:
    """Wake and tell whom the comment is for; answer whom it names."""
    issue = comment.issue
    mentioned = wake_mentioned(actor, issue, speech, comment=comment, without=without)
    others = [agent for agent in mentioned.agents if agent.pk != issue.assignee_agent_id]
    assignee = _assignee_to_wake(issue) if isinstance(actor, Person) and not others else None
    if assignee is not None and assignee not in mentioned.agents and assignee.handle not in without:
        wake(
            Wake(
                agent_id=assignee.pk,
                issue=issue,
                source=WakeupSource.COMMENTED,
                actor=actor,
                comment=comment,
                subject=str(comment.pk),
                reason=f"{actor} commented on your issue.",
            )
        )
    return mentioned


def _assignee_to_wake(issue: Issue) -> Agent | None:
    """The agent that a person's comment wakes by itself, if there is one."""
    if issue.is_closed or not issue.company.comments_wake_assignee:
        return None
    return issue.assignee_agent


def _own_comment(actor: Actor, comment: Comment) -> Comment:
    """The comment, held, if the actor wrote it and it stands."""
    held = Comment.objects.select_for_update(of=("self",), no_key=True)
    comment = held.select_related("issue__company").get(pk=comment.pk)
    member = require(actor, Right.EDIT, comment.issue)
    if member is None or comment.author_member_id != member.pk:
        raise Forbidden("Only its author can change a comment.")
    if comment.deleted_at is not None:
        raise Conflict("The comment was deleted.")
    return comment
