"""Budgets by reservation: before a call its worst case is set aside, afterwards what it cost is settled.

So ten calls that start at once cannot together spend what each alone could. Rows are locked company first, then agent.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from agents.models import Agent, Budget, Reservation, Run, Spending
from agents.services.wakeups import look_again
from issues.activity import record
from issues.actors import SYSTEM, Actor
from issues.effects import service
from issues.models import Company, InboxKind
from issues.policies import Right, require
from issues.prepared import Prepared, PreparedInstances
from issues.refusals import Conflict, Invalid
from issues.services.inbox import tell_board
from issues.services.locks import lock_company

WARN_PERCENT = 80
DIMENSIONS = ("tokens", "microdollars", "runs")


@dataclass(frozen=True, slots=True)
class Cost:
    """What calls cost or could cost. `microdollars` is None where a model has no known price: tokens count all the
    same, and the money is shown as unpriced, never as nothing."""

    tokens: int
    microdollars: int | None

    def __add__(self, other: Cost) -> Cost:
        known = self.microdollars is not None and other.microdollars is not None
        money = (self.microdollars or 0) + (other.microdollars or 0)
        return Cost(self.tokens + other.tokens, money if known else None)


NOTHING = Cost(0, 0)

_Budgets = Mapping[int | None, Budget]


class OverBudget(Conflict):
    """There is no room in a budget. `is_spent`: it is spent, not only set aside for calls under way."""

    def __init__(self, reason: str, *, is_spent: bool) -> None:
        super().__init__(reason)
        self.is_spent = is_spent


@service
def set_budget(
    *,
    actor: Actor,
    company: Company,
    agent: Agent | None = None,
    tokens: int | None = None,
    microdollars: int | None = None,
    runs: int | None = None,
) -> Budget:
    """Set the monthly limits of the company or of one agent; None is no limit. What waited for room is looked at again
    at once."""
    require(actor, Right.MANAGE_COMPANY, company)
    if agent is not None and agent.company_id != company.pk:
        raise Invalid("That agent belongs to another company.", field="agent")
    for field, value in (("tokens", tokens), ("microdollars", microdollars), ("runs", runs)):
        if value is not None and value < 0:
            raise Invalid(f"A limit of {field} cannot be negative.", field=field)
    limits = {"tokens": tokens, "microdollars": microdollars, "runs": runs}
    lock_company(company)  # a claim that has seen the former limit has noted why it waits before this looks again
    look_again(company)  # wakeups before what is spent: the order of claims
    budget, _ = Budget.objects.update_or_create(company=company, agent=agent, defaults=limits)
    Spending.objects.filter(company=company, agent=agent).update(warned_at=None, stopped_at=None)
    record(actor, "budget.set", company, agent=agent.pk if agent else None, **limits)
    return budget


def reserve(run: Run, worst: Cost, *, starts_run: bool) -> None:
    """Set aside what a call could cost, inside the caller's transaction; `starts_run` also counts the run.

    Raises OverBudget, with nothing set aside, if it does not fit the company's or the agent's budget.
    """
    month = this_month()
    rows = _lock_rows(run, month, _budgets(run))
    for row, budget in rows:
        if budget is not None:
            _check_room(row, budget, worst, starts_run=starts_run)
    _add(
        rows,
        reserved_tokens=worst.tokens,
        reserved_microdollars=worst.microdollars or 0,
        runs=1 if starts_run else 0,
    )
    _set_aside(run, month, worst, is_first=starts_run)


def reserve_rest(run: Run, worst: Cost) -> None:
    """Set aside what is missing to `worst`, when the call to come turns out dearer than what is held for it. The caller
    holds the run's row. Raises OverBudget."""
    [(held_tokens, held_microdollars)] = _held.rows(run.pk) or [(0, 0)]
    tokens = max(0, worst.tokens - held_tokens)
    money = None
    if worst.microdollars is not None:
        money = max(0, worst.microdollars - held_microdollars)
    if tokens or money:
        reserve(run, Cost(tokens, money), starts_run=False)


@service
def reserve_further(run: Run, worst: Cost) -> bool:
    """Set aside what one more call could cost, beside what is held for those before it. False, with nothing set aside,
    if the run was settled meanwhile: it has ended, and nobody would settle it once more. Raises OverBudget."""
    if _reservation.first(run.pk) is None:
        return False
    reserve(run, worst, starts_run=False)
    return True


def settle(run: Run, spent: Cost | None) -> None:
    """Replace what was set aside for the run by what it cost, inside the caller's transaction. None: nobody knows, so
    what was set aside counts as spent. A run with nothing set aside is settled already."""
    held = _reservation.first(run.pk)
    if held is None:
        return
    cost = spent if spent is not None else Cost(held.tokens, held.microdollars)
    budgets = _budgets(run)
    if budgets:  # when this is committed: a claim that has seen no room until then has noted why it waits
        transaction.on_commit(partial(look_again, run.company), robust=True)
    rows = _lock_rows(run, held.month, budgets)
    _add(
        rows,
        reserved_tokens=-held.tokens,
        reserved_microdollars=-held.microdollars,
        tokens=cost.tokens,
        microdollars=cost.microdollars or 0,
        unpriced_calls=1 if cost.microdollars is None else 0,
    )
    held.delete()
    for row, budget in rows:
        if budget is not None:
            _tell_if_near(run.company, row, budget)


def settle_unknown(run: Run) -> None:
    """Settle a run that ended without an answer. A call that was under way may have been billed: what was set aside
    for it counts. One that never asked has spent nothing."""
    settle(run, None if run.prompt_built_at is not None else NOTHING)


def require_room(company: Company, worst: Cost) -> None:
    """Raise OverBudget unless the company's budget has room for a call beside all runs. Nothing is set aside for one so
    small."""
    budget = Budget.objects.filter(company=company, agent=None).first()
    row = Spending.objects.filter(company=company, agent=None, month=this_month()).first()
    if budget is not None and row is not None:
        _check_room(row, budget, worst, starts_run=False)


def charge(company: Company, cost: Cost) -> None:
    """Count what a call beside all runs cost, inside the caller's transaction."""
    month = this_month()
    Spending.objects.get_or_create(company=company, agent=None, month=month)
    row = Spending.objects.select_for_update().get(company=company, agent=None, month=month)
    _add(
        [(row, None)],
        tokens=cost.tokens,
        microdollars=cost.microdollars or 0,
        unpriced_calls=1 if cost.microdollars is None else 0,
    )
    budget = Budget.objects.filter(company=company, agent=None).select_related("agent").first()
    if budget is not None:
        _tell_if_near(company, row, budget)


def is_budget_low(run: Run) -> bool:
    """Whether more of a budget is used than the board is warned at."""
    return used_share(run) * 100 > WARN_PERCENT


def used_share(run: Run) -> float:
    """How much of the tightest limit of the run's company or agent is used, from 0."""
    shares = [0.0]
    budgets = _budgets(run)
    for row, budget in _rows(run, this_month(), budgets, lock=False) if budgets else []:
        if budget is not None:
            shares += [getattr(row, name) / max(limit, 1) for name, limit in _limits(budget)]
    return max(shares)


def this_month() -> datetime.date:
    return timezone.now().astimezone(datetime.UTC).date().replace(day=1)


def _add(rows: Sequence[tuple[Spending, Budget | None]], **amounts: int) -> None:
    """Add the same to each of the held rows."""
    sums = {name: F(name) + amount for name, amount in amounts.items()}
    Spending.objects.filter(pk__in=[row.pk for row, _ in rows]).update(**sums)
    for row, _ in rows:
        for name, amount in amounts.items():
            setattr(row, name, getattr(row, name) + amount)


def _set_aside(run: Run, month: datetime.date, worst: Cost, *, is_first: bool) -> None:
    more = {"tokens": worst.tokens, "microdollars": worst.microdollars or 0}
    held = Reservation.objects.filter(run=run)
    if is_first or not held.update(**{name: F(name) + amount for name, amount in more.items()}):
        Reservation.objects.create(run=run, month=month, **more)


def _lock_rows(run: Run, month: datetime.date, budgets: _Budgets) -> list[tuple[Spending, Budget | None]]:
    rows = _rows(run, month, budgets, lock=True)
    if len(rows) == 2:
        return rows
    for agent in (None, run.agent):  # the first call of the month
        Spending.objects.get_or_create(company=run.company, agent=agent, month=month)
    return _rows(run, month, budgets, lock=True)


def _rows(run: Run, month: datetime.date, budgets: _Budgets, *, lock: bool) -> list[tuple[Spending, Budget | None]]:
    """The company's and the agent's row of the month, as far as they exist, with the budget that bounds each."""
    query = _held_spending if lock else _spending
    return [(row, budgets.get(row.agent_id)) for row in query.all(run.company_id, run.agent_id, month)]


def _of_both(company_id: int, agent_id: int, month: datetime.date) -> QuerySet[Spending]:
    found = Spending.objects.filter(Q(agent=None) | Q(agent=agent_id), company=company_id, month=month)
    return found.order_by(F("agent").asc(nulls_first=True))


_spending = PreparedInstances(_of_both)
_held_spending = PreparedInstances(lambda *both: _of_both(*both).select_for_update())


def _budgets(run: Run) -> _Budgets:
    """Those that bound the run, by the agent's id, the company's under None."""
    if not _any_budget.finds_any(run.company_id):
        return {}
    applying = Budget.objects.filter(_both(run), company=run.company).select_related("agent")
    return {budget.agent_id: budget for budget in applying}


_reservation = PreparedInstances(lambda run: Reservation.objects.select_for_update().filter(run=run))
_held = Prepared(lambda run: Reservation.objects.filter(run=run).values_list("tokens", "microdollars"))
_any_budget = Prepared(lambda company: Budget.objects.filter(company=company).values_list("pk")[:1])


def _both(run: Run) -> Q:
    """The rows of the company and of the run's agent."""
    return Q(agent=None) | Q(agent=run.agent)


def _limits(budget: Budget) -> list[tuple[str, int]]:
    limits = [(name, getattr(budget, name)) for name in DIMENSIONS]
    return [(name, limit) for name, limit in limits if limit is not None]


def _check_room(row: Spending, budget: Budget, worst: Cost, *, starts_run: bool) -> None:
    whose = f"@{budget.agent.handle}'s" if budget.agent is not None else "the company's"
    wanted = {"tokens": worst.tokens, "microdollars": worst.microdollars or 0, "runs": 1 if starts_run else 0}
    reserved = {"tokens": row.reserved_tokens, "microdollars": row.reserved_microdollars, "runs": 0}
    for name, limit in _limits(budget):
        spent = getattr(row, name)
        if spent + reserved[name] + wanted[name] <= limit:
            continue
        is_spent = spent + wanted[name] > limit
        state = "is used up" if is_spent else "is set aside for calls under way"
        whole = f"{whose} budget of {_amount(name, limit)} this month"
        raise OverBudget(f"{whole[0].upper()}{whole[1:]} {state}.", is_spent=is_spent)


def _tell_if_near(company: Company, row: Spending, budget: Budget) -> None:
    """Tell the board once at 80% and once at 100%."""
    now = timezone.now()
    before = (row.warned_at, row.stopped_at)
    for name, limit in _limits(budget):
        used = getattr(row, name)
        if used >= limit and row.stopped_at is None:
            row.stopped_at = row.warned_at = now
            _tell(company, budget, "budget.stopped", f"is used up: {_amount(name, used)} of {_amount(name, limit)}")
        elif used * 100 >= limit * WARN_PERCENT and row.warned_at is None:
            row.warned_at = now
            _tell(company, budget, "budget.warned", f"is near: {_amount(name, used)} of {_amount(name, limit)}")
    if (row.warned_at, row.stopped_at) != before:
        row.save(update_fields=["warned_at", "stopped_at"])


def _tell(company: Company, budget: Budget, kind: str, words: str) -> None:
    whose = f"@{budget.agent.handle}'s" if budget.agent is not None else "The company's"
    record(SYSTEM, kind, company, agent=budget.agent_id)
    tell_board(InboxKind.BUDGET, f"{whose} monthly budget {words}.", company=company)


def _amount(name: str, value: int) -> str:
    return f"${value / 1_000_000:,.2f}" if name == "microdollars" else f"{value:,} {name}"
