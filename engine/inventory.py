"""What an issue and its agent have at all: asked once, so that a prompt reads nothing that is not there."""

from __future__ import annotations

from enum import StrEnum

from django.db.models import Exists, Model, QuerySet

from agents.models import Agent, Checkpoint, Note, Observation, Skill
from issues.models import (
    Approval,
    ApprovalStatus,
    Attachment,
    Blocker,
    Finding,
    Issue,
    Reviewer,
    WorkspaceFile,
)


class Kept(StrEnum):
    """What may be there: on the issue, then with the agent."""

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


def read_inventory(agent: Agent, issue: Issue) -> frozenset[Kept]:
    """All of it in one query, which costs as much as four: most issues have little of it."""
    rows: dict[Kept, QuerySet[Model]] = {
        Kept.REVIEWERS: Reviewer.objects.filter(issue=issue),
        Kept.LABELS: Issue.labels.through.objects.filter(issue=issue),
        Kept.BLOCKERS: Blocker.objects.filter(issue=issue),
        Kept.APPROVALS: Approval.objects.filter(issue=issue, status=ApprovalStatus.PENDING),
        Kept.CHILDREN: Issue.objects.filter(parent=issue),
        Kept.CHECKPOINTS: Checkpoint.objects.filter(issue=issue),
        Kept.ATTACHMENTS: Attachment.objects.filter(issue=issue),
        Kept.FILES: WorkspaceFile.objects.filter(issue=issue),
        Kept.FINDINGS: Finding.objects.filter(issue=issue),
        Kept.REPORTS: Agent.objects.filter(manager=agent),
        Kept.SKILLS: Skill.objects.filter(company=agent.company_id, enabled=True),
        Kept.NOTES: Note.objects.filter(agent=agent),
        Kept.OBSERVATIONS: Observation.objects.filter(agent=agent),
    }
    found = Issue.objects.filter(pk=issue.pk).values_list(*(Exists(asked) for asked in rows.values())).get()
    return frozenset(kept for kept, is_there in zip(rows, found, strict=True) if is_there)
