"""The providers that a company may ask, each with how it is set up and how it has been answering."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Max, Q
from django.utils import timezone

from agents.adapters.base import Endpoint, ErrorKind
from agents.adapters.registry import ProviderSpec, load_providers
from agents.model_choices import ModelChoice
from agents.models import Breaker, CompanyProvider, ModelCall
from agents.services.breakers import IN_WORDS, troubled
from engine.routing import NoProvider, Route, own_providers, route_to
from issues.models import Company
from issues.refusals import NotFound

HEALTH = datetime.timedelta(hours=24)
"""How far back the calls of a provider are counted."""

_FROM_ENVIRONMENT = {"openai": "OPENAI_API_KEY or TRIMUS_LLM_BASE_URL", "anthropic": "ANTHROPIC_API_KEY"}


@dataclass(frozen=True, slots=True)
class Calls:
    """Of one day."""

    made: int = 0
    failed: int = 0
    last: datetime.datetime | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider by its name. `own` is its row where it is the company's own, else `how` names the variable of the
    environment; `problem` says why it cannot be asked, `trouble` why it is left alone."""

    name: str
    protocol: ProviderSpec
    route: Route | None
    own: CompanyProvider | None
    how: str
    problem: str
    breaker: Breaker | None
    calls: Calls

    @property
    def is_ready(self) -> bool:
        return not self.problem

    @property
    def is_own(self) -> bool:
        return self.own is not None

    @property
    def is_left_alone(self) -> bool:
        return self.breaker is not None and self.breaker.open_until is not None

    @property
    def host(self) -> str:
        return self.route.endpoint.host if self.route is not None else ""

    @property
    def trouble(self) -> str:
        """What is wrong with it; empty if it answers. What a shared one said to another company stays there."""
        if self.breaker is None:
            return ""
        words = f"{self.name} {IN_WORDS[ErrorKind(self.breaker.error_kind)]}."
        return f"{words} {self.breaker.error}" if self.own is not None else words

    @property
    def state(self) -> str:
        """One word: ready, troubled (it failed once), left_alone or not_set."""
        if not self.is_ready:
            return "not_set"
        if self.is_left_alone:
            return "left_alone"
        return "ready" if self.breaker is None else "troubled"


def offers_of(company: Company) -> list[Offer]:
    """The company's own in the order they were added, then those of the environment, then scripts."""
    own = {row.name: row for row in company.providers.all()}
    specs = load_providers()
    routes = {name: _route(company, name) for name in (*own, *_FROM_ENVIRONMENT)}
    breakers = troubled([route.key for route in routes.values() if isinstance(route, Route)])
    calls = _calls(company)
    offers = []
    for name, found in routes.items():
        row = own.get(name)
        route = found if isinstance(found, Route) else None
        offers.append(
            Offer(
                name=name,
                protocol=specs[row.protocol if row is not None else name],
                route=route,
                own=row,
                how="" if row is not None else _how(name),
                problem="" if route is not None else str(found),
                breaker=breakers.get(route.key) if route is not None else None,
                calls=calls.get(name, Calls()),
            )
        )
    return [*offers, *_without_a_model(specs, calls)]


def offer_of(company: Company, name: str) -> Offer:
    """The one of that name. NotFound if there is none."""
    for offer in offers_of(company):
        if offer.name == name:
            return offer
    raise NotFound(f"There is no provider “{name[:30]}”.")


def _route(company: Company, name: str) -> Route | NoProvider:
    """The way to the provider, whatever the model; or why there is none."""
    own = own_providers(company).get(name)
    if own is not None and not own.problem:
        return Route(own.endpoint, own.model, provider=name, own_of=company.pk)
    try:
        return route_to(company, ModelChoice(name))
    except NoProvider as missing:
        return missing


def _how(name: str) -> str:
    """The variable that a provider of the environment is set up by, or those that would. Keys are shown nowhere."""
    if name == "openai" and settings.LLM.compatible_base_url:
        return "TRIMUS_LLM_BASE_URL"
    if name == "openai" and settings.LLM.openai_api_key:
        return "OPENAI_API_KEY"
    return _FROM_ENVIRONMENT[name]


def _without_a_model(specs: Mapping[str, ProviderSpec], calls: Mapping[str, Calls]) -> Sequence[Offer]:
    return [
        Offer(spec.name, spec, Route(Endpoint(spec.name), ""), None, "", "", None, calls.get(spec.name, Calls()))
        for spec in specs.values()
        if not spec.calls_model
    ]


def _calls(company: Company) -> dict[str, Calls]:
    rows = (
        ModelCall.objects.filter(company=company, started_at__gte=timezone.now() - HEALTH)
        .values("provider")
        .annotate(made=Count("pk"), failed=Count("pk", filter=~Q(error_kind="")), last=Max("started_at"))
    )
    return {row["provider"]: Calls(row["made"], row["failed"], row["last"]) for row in rows}
