"""The same change of many issues: each by itself, so that one that is refused does not hold back the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from issues.actors import Actor
from issues.effects import savepoint, service
from issues.models import Company, Issue, Label, Priority, Status
from issues.policies import Right, require
from issues.refusals import Invalid, NotFound, Refusal
from issues.services.changes import change_issue
from issues.services.issues import UNCHANGED
from issues.services.locks import lock_company, lock_issues
from issues.services.projects import add_labels, remove_labels
from issues.traces import traced

if TYPE_CHECKING:
    from issues.services.issues import Assignee

MOST_ISSUES = 200
"""As many as a board shows."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of each of them."""

    status: Status = UNCHANGED
    assignee: Assignee = UNCHANGED
    priority: Priority = UNCHANGED
    add: Sequence[Label] = ()
    remove: Sequence[Label] = ()

    @property
    def is_empty(self) -> bool:
        parts = (self.status, self.assignee, self.priority)
        return all(part is UNCHANGED for part in parts) and not self.add and not self.remove


@dataclass(frozen=True, slots=True)
class RefusedIssue:
    identifier: str
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Outcome:
    changed: tuple[Issue, ...]
    refused: tuple[RefusedIssue, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change would do: `woken` are the ids of the agents that would look at something because of it."""

    outcome: Outcome
    woken: frozenset[int]


@service
def change_issues(*, actor: Actor, company: Company, issues: Collection[Issue], change: Change) -> Outcome:
    """Change each of the issues as by its own services. What is refused stays as it was, with the reason; the wakeups
    are judged once, at the end of all."""
    require(actor, Right.EDIT, company)
    if change.is_empty:
        raise Invalid("Say what is to be changed.")
    if len(issues) > MOST_ISSUES:
        raise Invalid(f"At most {MOST_ISSUES} issues are changed at once.")
    if any(issue.company_id != company.pk for issue in issues):
        raise NotFound("There is no such issue.")
    lock_company(company)
    changed: list[Issue] = []
    refused: list[RefusedIssue] = []
    for issue in lock_issues(issue.pk for issue in issues):
        try:
            with savepoint():
                changed.append(_change(actor, issue, change))
        except Refusal as refusal:
            refused.append(RefusedIssue(issue.identifier, refusal))
    return Outcome(tuple(changed), tuple(refused))


def preview_changes(*, actor: Actor, company: Company, issues: Collection[Issue], change: Change) -> Preview:
    """Whom the change would wake and what would be refused: it is made, looked at, and taken back."""
    with traced() as trace, transaction.atomic():
        outcome = change_issues(actor=actor, company=company, issues=issues, change=change)
        transaction.set_rollback(True)
    return Preview(outcome, frozenset(trace.woken))


def _change(actor: Actor, issue: Issue, change: Change) -> Issue:
    if change.add:
        issue = add_labels(actor=actor, issue=issue, labels=change.add)
    if change.remove:
        issue = remove_labels(actor=actor, issue=issue, labels=change.remove)
    return change_issue(
        actor=actor, issue=issue, priority=change.priority, assignee=change.assignee, status=change.status
    )
