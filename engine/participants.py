"""People and agents as prompts name them."""

from __future__ import annotations

from dataclasses import replace

from agents.models import Agent
from engine.text.context import IssueLine, Participant, Standing
from issues.models import Comment, Issue, Member


def named(agent: str, member: str) -> tuple[str, ...]:
    """What to read of these two relations to name who stands in one of them, for `only`: an agent's row holds long
    texts, which many rows that it wrote would bring along each. The field that the rows are related by must be read,
    too."""
    return (
        f"{agent}__name",
        f"{agent}__handle",
        f"{member}__handle",
        f"{member}__role",
        f"{member}__user__name",
        f"{member}__user__username",
    )


def lined(issue: str = "") -> tuple[str, ...]:
    """The same for an issue, itself or in a relation, that another one names."""
    at = f"{issue}__" if issue else ""
    return (
        f"{at}title",
        f"{at}number",
        f"{at}status",
        f"{at}company__key",
        *named(f"{at}assignee_agent", f"{at}assignee_member"),
    )


def participant(one: Agent | Member) -> Participant:
    """Name, handle and standing."""
    standing = Standing(one.role) if isinstance(one, Member) else Standing.AGENT
    return Participant(one.name, one.handle, standing)


def participant_or_none(one: Agent | Member | None) -> Participant | None:
    return participant(one) if one is not None else None


def author(comment: Comment) -> Participant:
    """Who wrote it. The row holds exactly one of the two. What was brought from another tracker anybody may have
    written there, so it weighs as little as a viewer's, whoever brought it."""
    one = comment.author_agent or comment.author_member
    assert one is not None  # noqa: S101 - a database constraint
    said = participant(one)
    return replace(said, standing=Standing.VIEWER) if comment.is_brought else said


def issue_line(issue: Issue) -> IssueLine:
    """An issue as another one names it."""
    return IssueLine(
        issue.identifier, issue.title, issue.status, participant_or_none(issue.assignee_agent or issue.assignee_member)
    )
