"""How often a heartbeat asks the database: as often on a long issue as on a short one, and not too often."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, RunState
from agents.services.runs import release
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.actors import Person
from issues.models import Company, Issue, Status
from issues.services.blockers import add_blockers
from issues.services.companies import change_company
from issues.services.files import write_file
from issues.services.findings import record_finding
from issues.services.projects import add_labels
from issues.services.reviews import set_reviewers
from tests import build
from tests.engine.running import FakeModel, run_all
from tests.engine.test_claiming import mention

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("one_connection")]

MOST = 60
"""Of a whole heartbeat, from the look for work to the last line written. What only begins and ends transactions and
savepoints asks for nothing and is not counted."""

_BRACKETS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")


def count_queries() -> list[str]:
    """The statements of one heartbeat of what is due."""
    with CaptureQueriesContext(connection) as asked:
        run = claim_next()
        assert run is not None
        heartbeat(run)
    run.refresh_from_db()
    assert run.state == RunState.SUCCEEDED, run.error
    statements = [query["sql"] for query in asked.captured_queries]
    return [statement for statement in statements if not statement.startswith(_BRACKETS)]


def test_a_whole_heartbeat_asks_sixty_times_at_most(company: Company, ada: Agent, model: FakeModel) -> None:
    model.answers = ["What I did is written here.\n\n/status done"]
    build.issue(company, assignee=ada)
    run_all()
    build.issue(company, assignee=ada)
    statements = count_queries()
    assert len(statements) <= MOST, "\n".join(statement[:120] for statement in statements)


def test_it_asks_as_often_on_a_long_issue_as_on_a_short_one(
    company: Company, ada: Agent, owner: Person, model: FakeModel
) -> None:
    company = change_company(actor=owner, company=company, comments_wake_assignee=False)
    model.answers = ["Noted.\n\n/priority high"]
    counts = []
    for size in (5, 5, 200):  # the first run of a month makes the rows that count what is spent
        issue = build.issue(company, status=Status.BACKLOG, assignee=ada)
        for number in range(size):
            child = build.issue(company, parent=issue, status=Status.BACKLOG)
            build.comment(child, f"Word {number}.")
            build.comment(issue, f"Comment {number}.")
        mention(ada, issue)
        last = count_queries()
        counts.append(len(last))
    assert counts[1] == counts[2], "\n".join(s[:130] for s in last)


def test_so_it_does_where_much_stands_around_the_issue(
    company: Company, ada: Agent, owner: Person, model: FakeModel
) -> None:
    """Blockers, reviewers, requests, labels, files, findings, reports and colleagues, wakeups of all kinds."""
    company = change_company(actor=owner, company=company, runs_per_hour=100)
    counts = []
    for size in (1, 1, 12):
        issue = build.issue(company, status=Status.BACKLOG, assignee=ada)
        _surround(issue, ada, owner, size)
        model.answers = ["Noted."]
        last = count_queries()
        counts.append(len(last))
    assert counts[1] == counts[2], "\n".join(s[:130] for s in last)


def _surround(issue: Issue, ada: Agent, owner: Person, size: int) -> None:
    company, worker = issue.company, build.at_work(ada, issue)
    reviewers = [build.agent(company, f"Rea {issue.pk}-{number}", manager=ada) for number in range(size)]
    set_reviewers(actor=owner, issue=issue, reviewers=reviewers)
    for number in range(size):
        add_blockers(actor=owner, issue=issue, blockers=[build.issue(company, status=Status.BACKLOG)])
        add_labels(actor=owner, issue=issue, labels=[build.label(company, f"l{issue.pk}-{number}")])
        build.approval(issue, f"May I do {number}?", actor=worker)
        write_file(actor=worker, issue=issue, path=f"{number}.md", text="x")
        record_finding(actor=worker, issue=issue, title=f"F{number}", body="It is so.")
    release(actor=worker, issue=issue)
    for number in range(size):
        build.comment(issue, f"@ada, number {number}", actor=owner)
