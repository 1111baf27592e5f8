"""People and agents as prompts name them."""

from __future__ import annotations

from agents.models import Agent
from engine.text.context import IssueLine, Participant, Standing
from issues.models import Comment, Issue, Member


def participant(one: Agent | Member) -> Participant:
    """Name, handle and standing."""
    standing = Standing(one.role) if isinstance(one, Member) else Standing.AGENT
    return Participant(one.name, one.handle, standing)


def participant_or_none(one: Agent | Member | None) -> Participant | None:
    return participant(one) if one is not None else None


def author(comment: Comment) -> Participant:
    """Who wrote it. The row holds exactly one of the two."""
    one = comment.author_agent or comment.author_member
    assert one is not None  # noqa: S101 - a database constraint
    return participant(one)


def issue_line(issue: Issue) -> IssueLine:
    """An issue as another one names it."""
    return IssueLine(
        issue.identifier, issue.title, issue.status, participant_or_none(issue.assignee_agent or issue.assignee_member)
    )
