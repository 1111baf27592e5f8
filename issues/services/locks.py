"""Taking rows for writing. On PostgreSQL these are row locks; on SQLite the immediate transaction is the lock.

Order, so that no two transactions wait for each other: company, then issues by ascending id, then all else. A service
that meets its next issue only on the way (a blocker's waiting ones, a child's parent) may break that order; when two
then wait for each other, PostgreSQL ends one, and its unit begins anew.

The locks are of the kind that leaves keys alone (`no_key`): every row that refers to an issue or a company, each line
of activity among them, takes a share of that row's key, and must not wait for whoever changes its other columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import F, QuerySet

from issues.effects import held_issues
from issues.models import Company, Issue
from issues.prepared import PreparedInstances
from issues.refusals import NotFound


def lock_issue(issue: Issue) -> Issue:
    """The issue as it stands now, held until the transaction ends: the same object for all who ask within a unit.
    NotFound if it was deleted meanwhile."""
    locked = lock_issues([issue.pk])
    if not locked:
        raise NotFound("The issue no longer exists.")
    return locked[0]


def lock_issues(ids: Iterable[int]) -> list[Issue]:
    """Those of the issues that exist, held, by ascending id."""
    wanted, held = set(ids), held_issues()
    missing = wanted - held.keys()
    if missing:
        read = _one.all(*missing) if len(missing) == 1 else _held(missing)
        held |= {issue.pk: issue for issue in read}
    return [held[pk] for pk in sorted(wanted & held.keys())]


def _held(ids: Collection[int]) -> QuerySet[Issue]:
    held = Issue.objects.select_for_update(of=("self",), no_key=True).select_related("company", "assignee_agent")
    return held.filter(pk__in=ids).order_by("pk")


_one = PreparedInstances(lambda issue: _held([issue]))


def lock_company(company: Company) -> Company:
    """The company as it stands now, held until the transaction ends."""
    return Company.objects.select_for_update(no_key=True).get(pk=company.pk)


def next_issue_number(company: Company) -> int:
    """The company's next number. Its row stays held until the commit, so that a rolled-back issue leaves no gap."""
    Company.objects.filter(pk=company.pk).update(last_issue_number=F("last_issue_number") + 1)
    return Company.objects.values_list("last_issue_number", flat=True).get(pk=company.pk)


def save_issue(issue: Issue, *fields: str) -> None:
    """Write the named fields of a locked issue as its next version."""
    issue.version += 1
    issue.save(update_fields=[*fields, "version", "updated_at"])
