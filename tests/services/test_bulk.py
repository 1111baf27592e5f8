"""The same change of many issues."""

from __future__ import annotations

import pytest

from agents.models import Agent, Wakeup
from issues.actors import Person
from issues.models import Activity, Company, Issue, Priority, Status
from issues.refusals import Conflict, Invalid, NotFound
from issues.services import bulk
from issues.services.bulk import MOST_ISSUES, Change, change_issues, preview_changes
from issues.services.undo import undo
from issues.traces import traced
from tests import build

pytestmark = pytest.mark.django_db


def test_all_that_is_given_changes_on_all_of_them(company: Company, owner: Person, ada: Agent) -> None:
    bug, web = build.label(company, "bug"), build.label(company, "web")
    issues = [build.issue(company, labels=[web]) for _ in range(3)]
    change = Change(Status.IN_PROGRESS, ada, Priority.HIGH, add=[bug], remove=[web])
    outcome = change_issues(actor=owner, company=company, issues=issues, change=change)
    assert len(outcome.changed) == 3
    for issue in Issue.objects.all():
        assert (issue.status, issue.assignee_agent, issue.priority) == (Status.IN_PROGRESS, ada, Priority.HIGH)
        assert list(issue.labels.all()) == [bug]
        assert len(build.pending(ada, issue)) == 1


def test_one_that_is_refused_stays_as_it_was_and_says_why(
    company: Company, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine, refused = build.issue(company), build.issue(company)
    really = bulk.change_issue

    def refuse_one(**given: object) -> Issue:
        changed = really(**given)  # type: ignore[arg-type]  # as it was called
        if changed.pk == refused.pk:
            raise Conflict("Not this one.")
        return changed

    monkeypatch.setattr(bulk, "change_issue", refuse_one)
    outcome = change_issues(
        actor=owner, company=company, issues=[fine, refused], change=Change(priority=Priority.URGENT)
    )
    assert [(one.identifier, one.refusal.reason) for one in outcome.refused] == [(refused.identifier, "Not this one.")]
    fine.refresh_from_db()
    refused.refresh_from_db()
    assert (fine.priority, refused.priority) == (Priority.URGENT, Priority.NONE)


def test_a_look_ahead_names_whom_it_wakes_and_changes_nothing(company: Company, owner: Person, ada: Agent) -> None:
    issues = [build.issue(company), build.issue(company, status=Status.DONE)]
    lines = Activity.objects.count()
    seen = preview_changes(actor=owner, company=company, issues=issues, change=Change(assignee=ada))
    assert seen.woken == {ada.pk}
    assert not Wakeup.objects.exists()
    assert Activity.objects.count() == lines
    assert not Issue.objects.filter(assignee_agent=ada).exists()


def test_many_changes_are_undone_as_one(company: Company, owner: Person, ada: Agent) -> None:
    issues = [build.issue(company) for _ in range(3)]
    with traced() as trace:
        change_issues(actor=owner, company=company, issues=issues, change=Change(assignee=ada))
    assert len(build.pending(ada)) == 3
    undo(actor=owner, company=company, trace=trace.taken())
    assert build.pending(ada) == []
    assert not Issue.objects.filter(assignee_agent=ada).exists()


def test_nothing_to_change_too_many_and_another_companys_are_refused(company: Company, owner: Person) -> None:
    issue, foreign = build.issue(company), build.issue(build.company_with_founder("OTHER")[0])
    with pytest.raises(Invalid, match="what is to be changed"):
        change_issues(actor=owner, company=company, issues=[issue], change=Change())
    with pytest.raises(Invalid, match="At most"):
        change_issues(
            actor=owner,
            company=company,
            issues=[issue] * (MOST_ISSUES + 1),
            change=Change(priority=Priority.LOW),
        )
    with pytest.raises(NotFound):
        change_issues(actor=owner, company=company, issues=[foreign], change=Change(priority=Priority.LOW))
