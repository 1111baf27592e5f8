"""How often a heartbeat asks the database: as often on a long issue as on a short one, and not too often."""

from __future__ import annotations

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, RunState
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.actors import Person
from issues.models import Company, Status
from issues.services.companies import change_company
from tests import build
from tests.engine.running import FakeModel, run_all
from tests.engine.test_claiming import mention

pytestmark = pytest.mark.django_db(transaction=True)

MOST = 60
"""Of a whole heartbeat, from the look for work to the last line written. What only begins and ends transactions and
savepoints asks for nothing and is not counted."""

_BRACKETS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")


@pytest.fixture(autouse=True)
def one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep it over the turns: what is asked is counted where the connection stays the same."""
    monkeypatch.setattr(connections, "close_all", lambda: None)


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
