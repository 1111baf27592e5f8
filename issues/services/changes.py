"""Several changes of one issue as one: a form or a call that carries them all, and is refused as a whole."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from issues.actors import Actor
from issues.effects import service
from issues.models import Issue, Label, Priority, Status
from issues.refusals import Stale
from issues.services.issues import (
    UNCHANGED,
    assign_issue,
    edit_issue,
    set_parent,
    set_priority,
    set_status,
)
from issues.services.locks import lock_company, lock_issue
from issues.services.projects import add_labels, remove_labels

if TYPE_CHECKING:
    from issues.services.issues import Assignee


@service
def change_issue(
    *,
    actor: Actor,
    issue: Issue,
    if_version: int | None = None,
    labels: Collection[Label] = UNCHANGED,
    parent: Issue | None = UNCHANGED,
    priority: Priority = UNCHANGED,
    assignee: Assignee = UNCHANGED,
    status: Status = UNCHANGED,
    **fields: Any,
) -> Issue:
    """Change what is given, each part as by its own service: all of it or, when one is refused, nothing.

    `labels` are the issue's labels afterwards; `fields` are those of `edit_issue`. The status comes last, so that the
    agent it wakes is the new assignee. Stale when the issue is no longer at `if_version`.
    """
    if parent is not UNCHANGED:
        lock_company(issue.company)  # before the issue, as everywhere
    issue = lock_issue(issue)
    if if_version is not None and issue.version != if_version:
        raise Stale("Somebody changed the issue meanwhile.", "Look at it again, then decide.")
    if fields:
        issue = edit_issue(actor=actor, issue=issue, **fields)
    if labels is not UNCHANGED:
        issue = _set_labels(actor, issue, labels)
    if parent is not UNCHANGED:
        issue = set_parent(actor=actor, issue=issue, parent=parent)
    if priority is not UNCHANGED:
        issue = set_priority(actor=actor, issue=issue, priority=priority)
    if assignee is not UNCHANGED:
        issue = assign_issue(actor=actor, issue=issue, assignee=assignee)
    if status is not UNCHANGED:
        issue = set_status(actor=actor, issue=issue, status=status)
    return issue


def _set_labels(actor: Actor, issue: Issue, labels: Collection[Label]) -> Issue:
    present = set(issue.labels.all())
    if gone := [label for label in present if label not in labels]:
        issue = remove_labels(actor=actor, issue=issue, labels=gone)
    if new := [label for label in labels if label not in present]:
        issue = add_labels(actor=actor, issue=issue, labels=new)
    return issue
