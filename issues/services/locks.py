"""Taking rows for writing. On PostgreSQL these are row locks; on SQLite the immediate transaction is the lock.

Order, so that no two transactions wait for each other: company, then issues by ascending id, then all else.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F

from issues.models import Company, Issue
from issues.refusals import NotFound


def lock_issue(issue: Issue) -> Issue:
    """The issue as it stands now, held until the transaction ends. NotFound if it was deleted meanwhile."""
    locked = (
        Issue.objects.select_for_update(of=("self",))
        .select_related("company", "assignee_agent", "assignee_member", "parent")
        .filter(pk=issue.pk)
        .first()
    )
    if locked is None:
        raise NotFound("The issue no longer exists.")
    return locked


def lock_issues(ids: Iterable[int]) -> list[Issue]:
    """Those of the issues that exist, held, by ascending id."""
    return list(
        Issue.objects.select_for_update(of=("self",))
        .select_related("company", "assignee_agent", "assignee_member", "parent")
        .filter(pk__in=set(ids))
        .order_by("pk")
    )


def lock_company(company: Company) -> Company:
    """The company as it stands now, held until the transaction ends."""
    return Company.objects.select_for_update().get(pk=company.pk)


def next_issue_number(company: Company) -> int:
    """The company's next number. Its row stays held until the commit, so that a rolled-back issue leaves no gap."""
    Company.objects.filter(pk=company.pk).update(last_issue_number=F("last_issue_number") + 1)
    return Company.objects.values_list("last_issue_number", flat=True).get(pk=company.pk)


def save_issue(issue: Issue, *fields: str) -> None:
    """Write the named fields of a locked issue as its next version."""
    issue.version += 1
    issue.save(update_fields=[*fields, "version", "updated_at"])
