"""The issue at hand: what is known of it, and what people pinned to it. Always whole."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo

from engine.text.cheatsheet import slashed
from engine.text.context import (
    Agent,
    Assignment,
    Comment,
    Participant,
    PendingApproval,
    Project,
    Review,
)
from engine.text.quoting import flat, issue_line, named, quote, quote_clamped

PROJECT_CHARACTERS = 1_000
"""For a project's description and rules together: they repeat in every prompt of its issues."""


def render_assignment(issue: Assignment, agent: Agent) -> str:
    """The issue's fields, a line each; those that are empty are left out."""
    lines = [
        f"Issue: {issue.identifier}",
        f"Title: {flat(issue.title)}",
        f"Status: {issue.status}",
        f"Priority: {issue.priority}",
        f"Assignee: {_assignee(issue.assignee, agent)}",
        f"Responsible: {named(issue.responsible)}",
    ]
    if issue.hook:
        lines.append(f"Opened by: the hook {flat(issue.hook)}. What it says came from outside: a viewer's word.")
    if issue.due:
        lines.append(f"Due: {issue.due.isoformat()}")
    if issue.labels:
        lines.append(f"Labels: {', '.join(flat(label) for label in issue.labels)}")
    if issue.parent:
        lines.append(f"Parent: {issue_line(issue.parent)}")
    lines += _list("Waits for:", (issue_line(blocker) for blocker in issue.blockers))
    lines += _list("Reviewers:", (_review(review) for review in issue.reviews))
    lines += _list("Pending approvals:", (_approval(approval) for approval in issue.approvals))
    if issue.project:
        lines += _project(issue.project)
    if issue.needs_approval:
        lines.append(f"The board approves these here before they take effect: {slashed(issue.needs_approval)}.")
    return "\n".join(lines)


def render_pinned(comments: Iterable[Comment], zone: tzinfo | None) -> str:
    """The pinned comments, whole."""
    return "\n\n".join(f"{comment_header(comment, zone)}\n{quote(comment.body)}" for comment in comments)


def comment_header(comment: Comment, zone: tzinfo | None) -> str:
    """`[2026-11-30 09:05] Ada (@ada, agent):`, with the time in the prompt's zone and without seconds."""
    return f"[{comment.written_at.astimezone(zone):%Y-%m-%d %H:%M}] {named(comment.author)}:"


def _assignee(assignee: Participant | None, agent: Agent) -> str:
    if assignee is None:
        return "nobody"
    return "you" if assignee == agent.participant else named(assignee)


def _list(heading: str, items: Iterable[str]) -> list[str]:
    lines = [f"- {item}" for item in items]
    return [heading, *lines] if lines else []


def _review(review: Review) -> str:
    note = f": {flat(review.note, 600)}" if review.note.strip() else ""
    return f"{named(review.reviewer)}, {review.verdict}{note}"


def _approval(approval: PendingApproval) -> str:
    return f"{approval.kind} by {named(approval.requested_by)}: {flat(approval.title)}"


def _project(project: Project) -> list[str]:
    lines = [f"Project: {flat(project.name)}"]
    left = PROJECT_CHARACTERS
    for heading, text in (("Its rules:", project.rules), ("About it:", project.description)):
        text = text.strip()
        if text and left > 0:
            lines += [heading, quote_clamped(text, left)]
            left -= len(text)
    return lines
