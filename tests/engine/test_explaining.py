"""Why nothing runs on an issue, in a sentence."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.models import Agent, Wakeup
from agents.services.agents import pause_agent
from engine.explaining import A_MOMENT, explain
from issues.actors import Person
from issues.models import Company, Issue, Status
from issues.services.blockers import add_blockers
from issues.services.companies import change_company, pause_company
from issues.services.issues import set_status
from issues.services.reviews import set_reviewers
from tests import build
from tests.engine.running import scripted

pytestmark = pytest.mark.django_db


def reason(issue: Issue) -> str:
    return explain(Issue.objects.select_related("company").get(pk=issue.pk)).reason


@pytest.fixture
def quiet(company: Company, ada: Agent) -> Issue:
    """Ada's issue, with nothing pending."""
    issue = build.issue(company, assignee=ada)
    Wakeup.objects.all().delete()
    return issue


def test_at_work(ada: Agent, quiet: Issue) -> None:
    build.at_work(ada, quiet)
    assert reason(quiet) == "@ada is at work on it."


def test_asked_a_moment_ago(company: Company, ada: Agent) -> None:
    assert "@ada" in reason(build.issue(company, assignee=ada))


def test_what_is_due_and_has_no_room_says_where_there_is_none(company: Company, owner: Person) -> None:
    cleo, dora = (scripted(company, name, "Hello.") for name in ("Cleo", "Dora"))
    issue = build.issue(company, assignee=cleo)
    assert reason(issue) == "@cleo starts in a moment."
    due = timezone.now() - A_MOMENT - timedelta(seconds=1)
    Wakeup.objects.update(due_at=due)
    said = f"@cleo is due since {timezone.localtime(due):%H:%M %Z} and starts when a worker has room."
    assert reason(issue) == said
    change_company(actor=owner, company=company, max_concurrent_runs=1)
    build.at_work(dora, build.issue(company))
    assert reason(issue) == "@cleo comes next: the company has one run under way, its limit."
    change_company(actor=owner, company=company, max_concurrent_runs=2)
    build.at_work(cleo, build.issue(company))
    assert reason(issue) == "@cleo is at work elsewhere and comes next."


def test_nobody_has_it(company: Company, owner: Person) -> None:
    assert reason(build.issue(company)) == "It is assigned to nobody."
    person = build.issue(company, assignee=build.member_row(owner))
    assert reason(person) == f"It is assigned to a person, @{build.member_row(owner).handle}."


def test_blockers_children_and_questions(company: Company, owner: Person, ada: Agent, quiet: Issue) -> None:
    blocker = build.issue(company)
    waiting = build.issue(company)
    add_blockers(actor=owner, issue=waiting, blockers=[blocker])
    assert reason(waiting) == f"It waits for {blocker.identifier}."
    build.issue(company, parent=blocker)
    assert reason(blocker) == "It waits for its child issues."
    worker = build.at_work(ada, quiet)
    build.approval(quiet, actor=worker)
    assert worker.run is not None
    type(worker.run).objects.filter(pk=worker.run.pk).delete()
    assert reason(quiet) == "It waits for a decision of the board."


def test_blocked_without_a_blocker(owner: Person, quiet: Issue) -> None:
    set_status(actor=owner, issue=quiet, status=Status.BLOCKED)
    assert reason(quiet) == "It is blocked, and no open issue is named as its blocker: say how it goes on."


def test_in_review_names_who_is_to_judge(company: Company, owner: Person, ada: Agent, quiet: Issue) -> None:
    issue = set_status(actor=owner, issue=quiet, status=Status.IN_REVIEW)
    assert reason(issue) == f"It waits for the review of @{issue.responsible.handle}."
    boss, rea = build.member(company, "boss"), build.agent(company, "Rea")
    set_reviewers(actor=owner, issue=issue, reviewers=[build.member_row(boss), rea])
    assert reason(issue).startswith("@rea is to look at it, but no model answers it.")
    Wakeup.objects.all().delete()
    assert reason(issue) == "It waits for the review of @boss and @rea."


def test_paused_closed_or_in_the_backlog(company: Company, owner: Person) -> None:
    cleo = scripted(company, "Cleo", "Hello.")
    issue = build.issue(company, assignee=cleo, status=Status.DONE)
    Wakeup.objects.all().delete()
    assert reason(issue) == "The issue is done."
    set_status(actor=owner, issue=issue, status=Status.BACKLOG)
    assert reason(issue) == "It is in the backlog: agents start on what is in todo or in progress."
    pause_agent(actor=owner, agent=cleo)
    assert reason(issue) == "It is @cleo's, but it is paused."
    pause_company(actor=owner, company=company)
    assert reason(issue) == "It is @cleo's, but the company is paused."
