"""Budgets hold the engine: nothing starts that could overspend, and what waits goes on when there is room."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, connections, transaction

from agents.models import Agent, Reservation, Run, RunState, Spending, Wakeup, WakeupState
from agents.services.spending import NOTHING, set_budget, settle
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from engine.text.playbook import LOW_BUDGET
from issues.effects import unit
from issues.models import Company
from issues.services.comments import pin_comment
from tests import build
from tests.engine.running import run_next
from tests.engine.test_leases import wait_until
from tests.services.at_once import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)

REPLY = "- reply: |\n    Done.\n    /status done\n"


def worker(company: Company, name: str = "Ada") -> Agent:
    return build.agent(company, name, provider="scripted", script=REPLY)


def test_a_run_over_the_budget_waits_and_says_why() -> None:
    company, owner = build.company_with_founder()
    set_budget(actor=owner, company=company, tokens=100)
    build.issue(company, assignee=worker(company))
    assert claim_next() is None
    wakeup = Wakeup.objects.get()
    assert wakeup.state == WakeupState.PENDING
    assert "budget of 100 tokens" in wakeup.waiting_because
    assert not Reservation.objects.exists()


def test_raising_the_budget_lets_what_waited_go_on() -> None:
    company, owner = build.company_with_founder()
    set_budget(actor=owner, company=company, runs=0)
    issue = build.issue(company, assignee=worker(company))
    assert claim_next() is None
    set_budget(actor=owner, company=company, runs=1)
    run = claim_next()
    assert run is not None
    heartbeat(run)
    issue.refresh_from_db()
    assert issue.status == "done"


def test_a_run_is_settled_with_what_it_used() -> None:
    company, _ = build.company_with_founder()
    build.issue(company, assignee=worker(company))
    run = claim_next()
    assert run is not None
    assert Spending.objects.get(agent=None).reserved_tokens > 0
    heartbeat(run)
    run.refresh_from_db()
    row = Spending.objects.get(agent=None)
    assert (row.reserved_tokens, row.runs) == (0, 1)
    assert row.tokens == run.input_tokens + run.output_tokens > 0


def test_a_call_that_turns_out_dearer_than_the_claim_thought_fails_the_run() -> None:
    company, owner = build.company_with_founder(prompt_budget=2_000)
    ada = worker(company)
    issue = build.issue(company, assignee=ada)
    pinned = build.comment(issue, "word " * 12_000)
    pin_comment(actor=owner, comment=pinned)
    run = claim_next()
    assert run is not None
    row = Spending.objects.get(agent=None)
    set_budget(actor=owner, company=company, tokens=row.reserved_tokens)
    heartbeat(run)
    run.refresh_from_db()
    assert (run.state, run.error_kind) == (RunState.FAILED, "budget")
    assert Spending.objects.get(agent=None).reserved_tokens == 0


def test_a_run_that_is_settled_does_not_wait_for_a_claim_that_waits_for_the_same_budget() -> None:
    """A claim holds what is pending, then the budget's rows; on SQLite one waits for the other as a whole."""
    if connection.vendor != "postgresql":
        pytest.skip("Rows are held by PostgreSQL alone")
    company, owner = build.company_with_founder()
    ada = worker(company)
    build.issue(company, assignee=ada)
    run = claim_next()
    assert run is not None
    set_budget(actor=owner, company=company, runs=1)
    build.issue(company, assignee=worker(company, "Bob"))
    assert claim_next() is None
    settled = threading.Thread(target=settle_by_itself, args=[run])
    with transaction.atomic():
        waiting = Wakeup.objects.select_for_update().get(state=WakeupState.PENDING)
        settled.start()
        wait_until(lambda: not Reservation.objects.exists())
        Spending.objects.select_for_update().get(agent=None)
    settled.join(PATIENCE)
    due_before = waiting.due_at
    waiting.refresh_from_db()
    assert waiting.due_at < due_before, "it is looked at again"


def settle_by_itself(run: Run) -> None:
    try:
        with unit():
            settle(run, NOTHING)
    finally:
        connections.close_all()


@pytest.mark.parametrize(("limit", "is_low"), [(10, False), (5, False), (4, True), (1, True)])
def test_the_prompt_says_when_over_four_fifths_of_a_budget_are_used(limit: int, is_low: bool) -> None:
    """The run itself counts: of five, it is the fourth."""
    company, owner = build.company_with_founder()
    agent = worker(company)
    if limit > 1:
        for _ in range(3):
            build.issue(company, assignee=agent)
            run_next()
    set_budget(actor=owner, company=company, runs=limit)
    build.issue(company, assignee=agent)
    assert (LOW_BUDGET in run_next().user_message) is is_low
