"""Budgets hold the engine: nothing starts that could overspend, and what waits goes on when there is room."""

from __future__ import annotations

import pytest

from agents.models import Agent, Reservation, RunState, Spending, Wakeup, WakeupState
from agents.services.spending import set_budget
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.models import Company
from issues.services.comments import pin_comment
from tests import build

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
