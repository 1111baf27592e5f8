"""Budgets: what a company and each of its agents may use in a month, and what they have used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from agents.models import Agent, Budget, Spending
from agents.services.spending import set_budget, this_month
from issues.actors import Actor, Worker
from issues.keysets import OLDEST_FIRST
from issues.models import Company
from issues.refusals import Forbidden
from issues.rest.paging import Page
from issues.rest.scope import row_in_scope, scope_of
from issues.rest.shapes import Form, Shape
from issues.rest.views import CompanyQuery, Resource, operation

TAG = "Budgets and costs"
_MOST = 10**15
"""More than anybody uses, and far from what the database's numbers hold."""


class UseShape(Shape):
    """One measure of a budget."""

    limit = serializers.IntegerField(allow_null=True, help_text="Null: no limit.")
    used = serializers.IntegerField(help_text="This month.")
    reserved = serializers.IntegerField(help_text="Set aside for calls under way.")


class BudgetShape(Shape):
    """The budget of a company or of an agent, with what is used of it. Months are those of UTC."""

    agent = serializers.CharField(allow_null=True, help_text="A handle; null for the company's.")
    month = serializers.CharField(help_text="`2026-11`.")
    tokens = UseShape()
    microdollars = UseShape(help_text="Millionths of a US dollar.")
    runs = UseShape()
    unpriced_calls = serializers.IntegerField(help_text="Calls of models without a known price: not in the money.")


class BudgetForm(Form):
    """Limits of a month. What is null or left out has none."""

    tokens = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=_MOST)
    microdollars = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=_MOST, help_text="Millionths of a US dollar."
    )
    runs = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=10**9)


@dataclass(frozen=True, slots=True)
class Use:
    limit: int | None
    used: int
    reserved: int


@dataclass(frozen=True, slots=True)
class Purse:
    """A budget with what is used of it."""

    agent: str | None
    month: str
    tokens: Use
    microdollars: Use
    runs: Use
    unpriced_calls: int


class Budgets(Resource):
    @operation("List the budgets of agents", tag=TAG, query=CompanyQuery, answer=BudgetShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Purse]:
        """Of all that are not terminated, whether they have limits or not. An agent is shown its own. The company's is
        at `companies/KEY/budget`."""
        scope = scope_of(self.actor, query["company"])
        rows = Agent.objects.present().filter(company=scope.company).only("pk", "handle")
        if scope.agent_id is not None:
            rows = rows.filter(pk=scope.agent_id)
        page = self.page(rows, OLDEST_FIRST, query)
        return Page(_purses(scope.company, page.rows), page.cursor)


class CompanyBudget(Resource):
    @operation("Get the budget of a company", tag=TAG, answer=BudgetShape)
    def get(self, *, key: str) -> Purse:
        """People only."""
        return _purse(_company(self.actor, key), None)

    @operation("Set the budget of a company", tag=TAG, body=BudgetForm, answer=BudgetShape)
    def post(self, *, key: str, form: Mapping[str, Any]) -> Purse:
        """Owners only. What waited for room is looked at again."""
        scope = scope_of(self.actor, key)
        set_budget(actor=scope.actor, company=scope.company, **_limits(form))
        return _purse(scope.company, None)


class AgentBudget(Resource):
    @operation("Get the budget of an agent", tag=TAG, answer=BudgetShape)
    def get(self, *, id: int) -> Purse:
        """An agent reads its own."""
        scope, agent = row_in_scope(self.actor, _agents(), id)
        if scope.agent_id not in (None, agent.pk):
            raise Forbidden("An agent reads its own budget alone.")
        return _purse(agent.company, agent)

    @operation("Set the budget of an agent", tag=TAG, body=BudgetForm, answer=BudgetShape)
    def post(self, *, id: int, form: Mapping[str, Any]) -> Purse:
        """Owners only. What waited for room is looked at again."""
        scope, agent = row_in_scope(self.actor, _agents(), id)
        set_budget(actor=scope.actor, company=scope.company, agent=agent, **_limits(form))
        return _purse(scope.company, agent)


def _agents() -> QuerySet[Agent]:
    return Agent.objects.select_related("company").defer("instructions", "knowledge", "script")


def _company(actor: Actor, key: str) -> Company:
    scope = scope_of(actor, key)
    if isinstance(actor, Worker):
        raise Forbidden("What the company may use is the board's to read.", "Your own budget is at agents/ID/budget.")
    return scope.company


def _limits(form: Mapping[str, Any]) -> dict[str, Any]:
    return {name: form.get(name) for name in ("tokens", "microdollars", "runs")}


def _purse(company: Company, agent: Agent | None) -> Purse:
    return _purses(company, [agent])[0]


def _purses(company: Company, agents: Sequence[Agent | None]) -> list[Purse]:
    """Of each agent; None stands for the company itself."""
    month = this_month()
    whose = {"company": company} | ({"agent": None} if agents == [None] else {"agent__in": agents})
    budgets = {budget.agent_id: budget for budget in Budget.objects.filter(**whose)}
    spending = {row.agent_id: row for row in Spending.objects.filter(**whose, month=month)}
    purses = []
    for agent in agents:
        pk = agent.pk if agent is not None else None
        limits, spent = budgets.get(pk, Budget()), spending.get(pk, Spending())
        purses.append(
            Purse(
                agent=agent.handle if agent is not None else None,
                month=f"{month:%Y-%m}",
                tokens=Use(limits.tokens, spent.tokens, spent.reserved_tokens),
                microdollars=Use(limits.microdollars, spent.microdollars, spent.reserved_microdollars),
                runs=Use(limits.runs, spent.runs, 0),
                unpriced_calls=spent.unpriced_calls,
            )
        )
    return purses
