"""Budgets: what is set aside, what is settled, and what several who spend at once can never exceed."""

from __future__ import annotations

from functools import partial

import pytest

from agents.models import Reservation, Run, Spending
from agents.services.spending import NOTHING, Cost, OverBudget, reserve, set_budget, settle, used_share
from issues.actors import Person
from issues.effects import unit
from issues.models import Activity, Company, InboxItem, InboxKind
from issues.refusals import Invalid
from tests import build
from tests.services.at_once import at_once

FIFTY_CENTS = 500_000
TWENTY_CENTS = Cost(tokens=1_000, microdollars=200_000)


def a_run(company: Company, owner: Person) -> Run:
    """A live run that has set nothing aside and was not counted yet."""
    worker = build.at_work(build.agent(company, f"Ada {Run.objects.count()}"), build.issue(company), by=owner)
    assert worker.run is not None
    with unit():
        settle(worker.run, NOTHING)
    Spending.objects.update(runs=0)
    return Run.objects.select_related("company", "agent").get(pk=worker.run.pk)


def company_row() -> Spending:
    return Spending.objects.get(agent=None)


@pytest.mark.django_db
def test_what_a_call_cost_takes_the_place_of_what_was_set_aside() -> None:
    company, owner = build.company_with_founder()
    run = a_run(company, owner)
    with unit():
        reserve(run, TWENTY_CENTS, starts_run=True)
    assert (company_row().reserved_microdollars, company_row().microdollars) == (200_000, 0)
    with unit():
        settle(run, Cost(tokens=300, microdollars=50_000))
    row = company_row()
    assert (row.reserved_microdollars, row.reserved_tokens) == (0, 0)
    assert (row.microdollars, row.tokens, row.runs) == (50_000, 300, 1)
    assert Spending.objects.get(agent=run.agent).microdollars == 50_000


@pytest.mark.django_db
def test_settling_twice_counts_once() -> None:
    company, owner = build.company_with_founder()
    run = a_run(company, owner)
    with unit():
        reserve(run, TWENTY_CENTS, starts_run=True)
        settle(run, TWENTY_CENTS)
        settle(run, TWENTY_CENTS)
    assert company_row().microdollars == 200_000


@pytest.mark.django_db
def test_a_call_of_which_nobody_knows_the_cost_counts_what_was_set_aside() -> None:
    company, owner = build.company_with_founder()
    run = a_run(company, owner)
    with unit():
        reserve(run, TWENTY_CENTS, starts_run=True)
        settle(run, None)
    assert company_row().microdollars == 200_000


@pytest.mark.django_db
def test_a_model_without_a_price_counts_tokens_and_is_shown_as_unpriced() -> None:
    company, owner = build.company_with_founder()
    run = a_run(company, owner)
    with unit():
        reserve(run, Cost(1_000, None), starts_run=True)
        settle(run, Cost(700, None))
    row = company_row()
    assert (row.tokens, row.microdollars, row.unpriced_calls) == (700, 0, 1)


@pytest.mark.django_db
@pytest.mark.parametrize("limit", [{"tokens": 999}, {"microdollars": 199_999}, {"runs": 0}])
def test_what_does_not_fit_a_limit_is_refused_and_nothing_is_set_aside(limit: dict[str, int]) -> None:
    company, owner = build.company_with_founder()
    run = a_run(company, owner)
    set_budget(actor=owner, company=company, **limit)
    with pytest.raises(OverBudget) as refused, unit():
        reserve(run, TWENTY_CENTS, starts_run=True)
    assert refused.value.is_spent
    assert not Reservation.objects.exists()
    assert not Spending.objects.exclude(reserved_tokens=0, runs=0).exists()


@pytest.mark.django_db
def test_an_agents_own_budget_bounds_it_within_the_companys() -> None:
    company, owner = build.company_with_founder()
    run, other = a_run(company, owner), a_run(company, owner)
    set_budget(actor=owner, company=company, agent=run.agent, microdollars=100_000)
    with pytest.raises(OverBudget, match=run.agent.handle), unit():
        reserve(run, TWENTY_CENTS, starts_run=True)
    with unit():
        reserve(other, TWENTY_CENTS, starts_run=True)


@pytest.mark.django_db
def test_room_that_is_only_set_aside_is_told_apart_from_room_that_is_spent() -> None:
    company, owner = build.company_with_founder()
    first, second = a_run(company, owner), a_run(company, owner)
    set_budget(actor=owner, company=company, microdollars=300_000)
    with unit():
        reserve(first, TWENTY_CENTS, starts_run=True)
    with pytest.raises(OverBudget, match="set aside") as refused, unit():
        reserve(second, TWENTY_CENTS, starts_run=True)
    assert not refused.value.is_spent


@pytest.mark.django_db
def test_the_board_is_warned_at_four_fifths_and_told_at_the_end_once_each() -> None:
    company, owner = build.company_with_founder()
    set_budget(actor=owner, company=company, microdollars=FIFTY_CENTS)
    for _ in range(3):
        run = a_run(company, owner)
        with unit():
            reserve(run, Cost(1, 1), starts_run=True)
            settle(run, TWENTY_CENTS)
    kinds = Activity.objects.filter(kind__startswith="budget.").order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["budget.set", "budget.warned", "budget.stopped"]
    assert InboxItem.objects.filter(kind=InboxKind.BUDGET).count() == 2
    assert used_share(run) == pytest.approx(1.2)


@pytest.mark.django_db
def test_a_limit_below_nothing_is_refused() -> None:
    company, owner = build.company_with_founder()
    with pytest.raises(Invalid, match="negative"):
        set_budget(actor=owner, company=company, tokens=-1)


@pytest.mark.django_db(transaction=True)
def test_ten_calls_of_twenty_cents_at_once_never_exceed_fifty() -> None:
    company, owner = build.company_with_founder()
    set_budget(actor=owner, company=company, microdollars=FIFTY_CENTS)
    runs = [a_run(company, owner) for _ in range(10)]

    def start(run: Run) -> bool:
        try:
            with unit():
                reserve(run, TWENTY_CENTS, starts_run=True)
        except OverBudget:
            return False
        return True

    started = at_once([partial(start, run) for run in runs])
    row = company_row()
    assert [one for one in started if isinstance(one, Exception)] == []
    assert sum(bool(one) for one in started) == 2
    assert row.reserved_microdollars + row.microdollars == 400_000
