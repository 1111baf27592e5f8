"""What is set aside and what is counted, when a run is cancelled or the database begins anew."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.adapters.base import AdapterError, ErrorKind, StopReason, Usage
from agents.models import Agent, Reservation, Run, RunState, Spending, Wakeup
from agents.services.runs import cancel_run
from agents.services.spending import Cost, set_budget, settle
from engine import record
from engine.claim import claim_next
from engine.leases import Lease
from issues.actors import Person
from issues.effects import unit
from issues.models import Company
from tests import build
from tests.engine.running import FakeModel, run_next, said

pytestmark = pytest.mark.django_db(transaction=True)


class Deadlock(Exception):
    """As PostgreSQL's driver names one of two that wait for each other."""

    sqlstate = "40P01"


def deadlock_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the database end the first transaction that settles."""
    whole = record.settle
    ended: list[bool] = []

    def settle(run: Run, spent: Cost | None) -> None:
        whole(run, spent)
        if not ended:
            ended.append(True)
            raise OperationalError("deadlock detected") from Deadlock()

    monkeypatch.setattr(record, "settle", settle)


class TestABeginningAnew:
    def test_counts_a_reply_once(
        self, company: Company, ada: Agent, model: FakeModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        build.issue(company, assignee=ada)
        deadlock_once(monkeypatch)
        run = run_next()
        assert (run.state, run.input_tokens, run.output_tokens) == (RunState.SUCCEEDED, 100, 10)
        assert run.calls.count() == 1
        assert Spending.objects.get(agent=None).tokens == 110

    def test_counts_a_failure_once(
        self, company: Company, ada: Agent, model: FakeModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        build.issue(company, assignee=ada)
        deadlock_once(monkeypatch)
        model.answers = [AdapterError(ErrorKind.BAD_REQUEST, "What?", usage=Usage(7, output_tokens=1))]
        run = run_next()
        assert (run.state, run.input_tokens, run.output_tokens) == (RunState.FAILED, 7, 1)


def test_a_run_that_is_cancelled_between_two_calls_leaves_nothing_set_aside(
    company: Company, ada: Agent, owner: Person, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has not felt it yet, and is about to ask for the rest of the answer."""
    build.issue(company, assignee=ada)
    model.answers = [said("The first half ", StopReason.MAX_TOKENS), "and the second."]
    whole = Lease.wait_for

    def wait_for(self: Lease, call: object) -> object:
        answer = whole(self, call)  # type: ignore[arg-type]
        cancel_run(actor=owner, run=Run.objects.get())
        connections.close_all()
        return answer

    monkeypatch.setattr(Lease, "wait_for", wait_for)
    assert run_next().state == RunState.CANCELLED
    assert len(model.requests) == 1
    assert not Reservation.objects.exists()
    assert not Spending.objects.exclude(reserved_tokens=0).exists()


@pytest.mark.parametrize("makes_room", ["raising the budget", "settling"])
def test_wakeups_are_held_before_what_is_spent_as_claims_hold_them(
    company: Company, ada: Agent, owner: Person, makes_room: str
) -> None:
    """Else one that waits for room and one that makes room would wait for each other."""
    set_budget(actor=owner, company=company, runs=1)
    for _ in range(2):
        build.issue(company, assignee=ada)
    run = claim_next()
    assert run is not None
    Wakeup.objects.filter(run=None).update(waiting_because="There is no room.")
    begun = timezone.now()
    with CaptureQueriesContext(connection) as asked:
        if makes_room == "settling":
            with unit():
                settle(run, Cost(1, 1))
        else:
            set_budget(actor=owner, company=company, runs=2)
    written = [query["sql"] for query in asked.captured_queries if query["sql"].startswith(("UPDATE", "COMMIT"))]
    units = " ".join(sql.split('"')[1] if '"' in sql else sql for sql in written).split("COMMIT")
    held = [[table for table in tables.split() if table in ("agents_wakeup", "agents_spending")] for tables in units]
    assert all(tables == sorted(tables, reverse=True) for tables in held)
    assert Wakeup.objects.get(run=None).due_at > begun
