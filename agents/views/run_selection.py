"""Which runs a list shows: read from the address, so that a selection can be shared."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from agents.models import ActionOutcome, Run, RunAction, RunState, Wakeup
from issues.names import Names
from issues.numbers import as_number
from issues.pages import Visit
from issues.sources import WakeupSource

ONLY = {"denied": "Denied something", "unchanged": "Changed nothing"}
ERRORS = {
    "any": "Any error",
    "network": "Provider not reached",
    "overloaded": "Provider overloaded",
    "auth": "Key or access",
    "refused": "Refused by the model",
    "context_too_long": "Prompt too long",
    "bad_request": "Request not understood",
    "silent": "Nothing answered",
    "budget": "Budget",
    "lost": "Worker lost",
    "error": "Error of Trimus",
}
COSTS = {"0.01": "Over 1 cent", "0.1": "Over 10 cents", "1": "Over $1", "10": "Over $10", "unpriced": "Unpriced"}
"""Dollars, as an address has them."""


@dataclass(frozen=True, slots=True)
class RunSelection:
    """The filters of an address. A word that means nothing selects nothing more."""

    agent: str = ""
    issue: str = ""  # ACME-7
    state: str = ""
    source: str = ""
    error: str = ""
    cost: str = ""
    only: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> RunSelection:
        return cls(**{field.name: query.get(field.name, "").strip()[:60] for field in fields(cls)})

    @property
    def filters(self) -> dict[str, str]:
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    def apply(self, visit: Visit) -> QuerySet[Run]:
        """The company's runs of this selection, in no order."""
        chosen = Run.objects.filter(company=visit.company)
        agent = as_number(self.agent)
        if agent is not None:
            chosen = chosen.filter(agent=agent)
        number = re.fullmatch(rf"(?:{visit.company.key}-|#)?([0-9]{{1,9}})", self.issue, re.IGNORECASE)
        if number is not None:
            chosen = chosen.filter(issue__number=int(number[1]))
        if self.state in RunState.values:
            chosen = chosen.filter(state=self.state)
        if self.source in WakeupSource.values:
            chosen = chosen.filter(Exists(Wakeup.objects.filter(run=OuterRef("pk"), source=self.source)))
        return chosen.filter(self._error() & self._cost() & self._outcome())

    def _error(self) -> Q:
        if self.error == "any":
            return ~Q(error_kind="")
        return Q(error_kind=self.error) if self.error in ERRORS else Q()

    def _cost(self) -> Q:
        if self.cost == "unpriced":
            return Q(cost_microdollars=None)
        return Q(cost_microdollars__gt=round(float(self.cost) * 1_000_000)) if self.cost in COSTS else Q()

    def _outcome(self) -> Q:
        actions = RunAction.objects.filter(run=OuterRef("pk"))
        if self.only == "denied":
            return Q(Exists(actions.filter(outcome=ActionOutcome.DENIED)))
        if self.only == "unchanged":
            return Q(~Exists(actions.filter(outcome=ActionOutcome.APPLIED)), state=RunState.SUCCEEDED)
        return Q()


def offer_run_filters(selection: RunSelection, names: Names) -> dict[str, Any]:
    """What the bar above the runs needs."""
    choices: dict[str, tuple[str, dict[str, str]]] = {
        "agent": ("Agent", {str(one.id): one.name for one in names.agents.values()}),
        "issue": ("Issue", {}),
        "state": ("State", {state.value: state.label for state in RunState}),
        "source": ("Woken by", {source.value: source.label for source in WakeupSource}),
        "error": ("Error", ERRORS),
        "cost": ("Cost", COSTS),
        "only": ("Outcome", ONLY),
    }
    return {
        "chosen": selection,
        "choices": {name: words for name, (_, words) in choices.items()},
        "chips": [
            {
                "words": f"{choices[name][0]}: {choices[name][1].get(value, value)}",
                "without": urlencode(replace(selection, **{name: ""}).filters),
            }
            for name, value in selection.filters.items()
        ],
    }
