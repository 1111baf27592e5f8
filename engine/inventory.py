"""What an issue and its agent have at all: asked once, so that a prompt reads nothing that is not there."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from django.db.models import Exists, Model, QuerySet

from agents.models import Agent, Checkpoint, Note, Observation, Skill
from issues.models import (
    Approval,
    ApprovalStatus,
    Attachment,
    Blocker,
    Comment,
    Finding,
    Issue,
    Reviewer,
    WorkspaceFile,
)
from issues.prepared import Prepared


class Kept(StrEnum):
    """What may be there: on the issue, then with the agent."""

    COMMENTS = "comments"
    REVIEWERS = "reviewers"
    LABELS = "labels"
    BLOCKERS = "blockers"
    APPROVALS = "approvals"
    CHILDREN = "children"
    CHECKPOINTS = "checkpoints"
    ATTACHMENTS = "attachments"
    FILES = "files"
    FINDINGS = "findings"
    REPORTS = "reports"
    SKILLS = "skills"
    NOTES = "notes"
    OBSERVATIONS = "observations"


_ON_ISSUE: dict[Kept, Callable[[int], QuerySet[Model]]] = {
    Kept.COMMENTS: lambda issue: Comment.objects.filter(issue=issue, deleted_at=None),
    Kept.REVIEWERS: lambda issue: Reviewer.objects.filter(issue=issue),
    Kept.LABELS: lambda issue: Issue.labels.through.objects.filter(issue=issue),
    Kept.BLOCKERS: lambda issue: Blocker.objects.filter(issue=issue),
    Kept.APPROVALS: lambda issue: Approval.objects.filter(issue=issue, status=ApprovalStatus.PENDING),
    Kept.CHILDREN: lambda issue: Issue.objects.filter(parent=issue),
    Kept.CHECKPOINTS: lambda issue: Checkpoint.objects.filter(issue=issue),
    Kept.ATTACHMENTS: lambda issue: Attachment.objects.filter(issue=issue),
    Kept.FILES: lambda issue: WorkspaceFile.objects.filter(issue=issue),
    Kept.FINDINGS: lambda issue: Finding.objects.filter(issue=issue),
}
_WITH_AGENT: dict[Kept, Callable[[int], QuerySet[Model]]] = {
    Kept.REPORTS: lambda agent: Agent.objects.filter(manager=agent),
    Kept.SKILLS: lambda agent: Skill.objects.filter(company__agents=agent, enabled=True),
    Kept.NOTES: lambda agent: Note.objects.filter(agent=agent),
    Kept.OBSERVATIONS: lambda agent: Observation.objects.filter(agent=agent),
}


def _of_all(issue: int, agent: int) -> QuerySet[Issue, tuple[bool, ...]]:
    asked = [rows(issue) for rows in _ON_ISSUE.values()] + [rows(agent) for rows in _WITH_AGENT.values()]
    return Issue.objects.filter(pk=issue).values_list(*(Exists(rows) for rows in asked))


_all = Prepared(_of_all)


def read_inventory(agent: Agent, issue: Issue) -> frozenset[Kept]:
    """All of it in one query: most issues have little of it."""
    found = zip((*_ON_ISSUE, *_WITH_AGENT), _all.row(issue.pk, agent.pk), strict=True)
    return frozenset(kept for kept, is_there in found if is_there)
