"""Budgets: what the company and each agent may use in a month, and what they have."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from agents.models import Agent, Budget, Spending
from agents.services.spending import WARN_PERCENT, set_budget, this_month
from issues.names import Names, Somebody
from issues.numbers import as_id, as_number
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, Refusal

MICRO = 1_000_000
MOST_DOLLARS = 1_000_000_000
"""More than anybody spends, and far from what the database's numbers hold."""


@dataclass(frozen=True, slots=True)
class Use:
    """One dimension of a budget: how much is used and set aside, and the limit, if there is one."""

    unit: str
    used: int
    held: int
    limit: int | None

    @property
    def used_percent(self) -> int:
        return min(100, 100 * self.used // max(self.limit or 0, 1))

    @property
    def held_percent(self) -> int:
        return min(100 - self.used_percent, 100 * self.held // max(self.limit or 0, 1))

    @property
    def state(self) -> str:
        """The bar's colour: `near` from the share at which the board is warned, `over` when nothing is left."""
        if self.limit is None:
            return ""
        return "over" if self.used >= self.limit else "near" if self.used * 100 >= self.limit * WARN_PERCENT else ""


@dataclass(frozen=True, slots=True)
class Purse:
    """The budget of the company (no agent) or of one agent, with what it has used this month."""

    agent: Somebody | None
    uses: tuple[Use, ...]
    unpriced: int
    dollars: str
    tokens: str
    runs: str

    @property
    def is_limited(self) -> bool:
        return bool(self.dollars or self.tokens or self.runs)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def budgets(request: HttpRequest, visit: Visit) -> HttpResponse:
    """All of them; posted to, it sets one."""
    if request.method != "POST":
        return _page(request, visit)
    try:
        agent = _agent(visit, request.POST.get("agent", ""))
        set_budget(actor=visit.person, company=visit.company, agent=agent, **_limits(request.POST))
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal)
    whose = f"{agent.name}’s budget" if agent is not None else "The company’s budget"
    return changed(request, f"{whose} is set.", to=reverse("budgets", args=[visit.company.slug]), moves_on=True)


def _agent(visit: Visit, value: str) -> Agent | None:
    if not value:
        return None
    found = Agent.objects.filter(company=visit.company, pk=as_id(value)).first()
    if found is None:
        raise Invalid("There is no such agent.", field="agent")
    return found


def _limits(form: Any) -> dict[str, int | None]:
    return {
        "microdollars": _dollars(form.get("dollars", "")),
        "tokens": _number(form.get("tokens", ""), "tokens", most=10**15),
        "runs": _number(form.get("runs", ""), "runs", most=10**9),
    }


def _number(value: str, field: str, *, most: int) -> int | None:
    digits = value.replace(",", "").strip()
    if not digits:
        return None
    number = as_number(digits)
    if number is None or number > most:
        raise Invalid(f"“{value}” is no number of {field}.", "Leave it empty for no limit.", field=field)
    return number


def _dollars(value: str) -> int | None:
    """An amount like `12.50` in micro-dollars."""
    written = value.replace(",", "").replace("$", "").strip()
    if not written:
        return None
    try:
        amount = Decimal(written)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not 0 <= amount <= MOST_DOLLARS:
        raise Invalid(f"“{value}” is no amount in dollars.", "Leave it empty for no limit.", field="dollars")
    return int(amount * MICRO)


def _purse(agent: Somebody | None, budget: Budget | None, spent: Spending | None) -> Purse:
    budget = budget or Budget()
    spent = spent or Spending()
    return Purse(
        agent=agent,
        uses=(
            Use("money", spent.microdollars, spent.reserved_microdollars, budget.microdollars),
            Use("tokens", spent.tokens, spent.reserved_tokens, budget.tokens),
            Use("runs", spent.runs, 0, budget.runs),
        ),
        unpriced=spent.unpriced_calls,
        dollars=f"{Decimal(budget.microdollars) / MICRO:f}" if budget.microdollars is not None else "",
        tokens=str(budget.tokens) if budget.tokens is not None else "",
        runs=str(budget.runs) if budget.runs is not None else "",
    )


def _page(request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None) -> HttpResponse:
    limits = {budget.agent_id: budget for budget in Budget.objects.filter(company=visit.company)}
    spent = {row.agent_id: row for row in Spending.objects.filter(company=visit.company, month=this_month())}
    agents = Names(visit.company).present_agents
    context = {
        "at": reverse("settings", args=[visit.company.slug]),
        "here": "budgets",
        "whole": _purse(None, limits.get(None), spent.get(None)),
        "purses": [_purse(agent, limits.get(agent.id), spent.get(agent.id)) for agent in agents],
        "month": this_month(),
        "refusal": refusal,
    }
    response = show(request, visit, "settings/budgets.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
