"""Models: whom the company can ask, how each has been answering, what the tiers mean, who steps in, who asks what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from agents.adapters.registry import load_providers
from agents.catalogue import ModelEntry
from agents.model_choices import ModelChoice, chain_of, tiers_of
from agents.models import Adapter, Agent, CompanyProvider, ModelTier
from agents.own_models import entry_for, own_models
from agents.services.breakers import reset_breaker
from agents.services.providers import (
    LONGEST_CHAIN,
    add_provider,
    change_models,
    edit_provider,
    provider_names,
    remove_provider,
)
from engine.offers import offer_of, offers_of
from engine.routing import NoProvider, Route, routes_of
from engine.trying import Tried, try_provider
from issues.effects import unit
from issues.models.company import THINKING_LEVELS
from issues.names import Names, Somebody
from issues.numbers import as_number
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, NotFound, Refusal
from issues.services.companies import change_company

SPARE_LINKS = 2
"""Empty lines at the end of the chain's form."""

TIERS_MEAN = {
    ModelTier.STANDARD: ("What agents ask that name nothing.", "The first that is ready"),
    ModelTier.LIGHT: ("Small work in the background, like summing up.", "As standard"),
    ModelTier.STRONG: ("For agents with hard work.", "As standard"),
}
"""What each is for, and what it means where the company says nothing of it."""


@dataclass(frozen=True, slots=True)
class Asking:
    """An agent with whom it asks now, and who steps in; or why nobody would answer."""

    agent: Agent
    somebody: Somebody | None
    route: Route | None = None
    others: tuple[Route, ...] = ()
    entry: ModelEntry | None = None
    problem: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def providers(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Posted to, it sets what the tiers mean, who steps in, and how much is thought."""
    if request.method != "POST":
        return _page(request, visit)
    try:
        with unit():
            change_models(
                actor=visit.person, company=visit.company, tiers=_sent_tiers(request), chain=_sent_chain(request)
            )
            if "default_thinking" in request.POST:
                level = request.POST["default_thinking"]
                change_company(actor=visit.person, company=visit.company, default_thinking=level)
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal, about="models")
    return changed(request, "Who answers is saved.", to=_home(visit), moves_on=True)


@sensitive_post_parameters("secret")
@require_POST
@company_page
def add(request: HttpRequest, visit: Visit) -> HttpResponse:
    sent = request.POST
    try:
        provider = add_provider(
            actor=visit.person,
            company=visit.company,
            name=sent.get("name", ""),
            protocol=sent.get("protocol", ""),
            base_url=sent.get("base_url", ""),
            key=sent.get("secret", ""),
            model=sent.get("model", ""),
            max_concurrent_runs=_number(sent.get("max_concurrent_runs", "")),
        )
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal, about="new")
    said = f"{provider.name} is added. Try it, to see that it answers."
    return changed(request, said, to=_home(visit), moves_on=True)


@sensitive_post_parameters("secret")
@require_POST
@company_page
def edit(request: HttpRequest, visit: Visit, provider: str) -> HttpResponse:
    """An empty key leaves the one there is; a box takes it away."""
    sent = request.POST
    row = _own(visit, provider)
    key = "" if "without_key" in sent else sent.get("secret", "").strip() or None
    try:
        edit_provider(
            actor=visit.person,
            provider=row,
            key=key,
            base_url=sent.get("base_url", ""),
            model=sent.get("model", ""),
            max_concurrent_runs=_number(sent.get("max_concurrent_runs", "")),
        )
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal, about=row.name)
    return changed(request, f"{row.name} is changed.", to=_home(visit), moves_on=True)


@require_POST
@company_page
def remove(request: HttpRequest, visit: Visit, provider: str) -> HttpResponse:
    row = _own(visit, provider)
    remove_provider(actor=visit.person, provider=row)
    return changed(request, f"{row.name} and its key are removed.", to=_home(visit), moves_on=True)


@require_POST
@company_page
def try_it(request: HttpRequest, visit: Visit, provider: str) -> HttpResponse:
    """Ask it for one word and show what happened."""
    offer = offer_of(visit.company, provider)
    tried = try_provider(actor=visit.person, company=visit.company, name=offer.name)
    return _page(request, visit, tried=tried)


@require_POST
@company_page
def reset(request: HttpRequest, visit: Visit, provider: str) -> HttpResponse:
    """Let one that is left alone be asked again at once."""
    offer = offer_of(visit.company, provider)
    if offer.route is not None:
        reset_breaker(actor=visit.person, company=visit.company, key=offer.route.key, provider=offer.name)
    return changed(request, f"{offer.name} is asked again from now on.", to=_home(visit), moves_on=True)


def _home(visit: Visit) -> str:
    return reverse("providers", args=[visit.company.slug])


def _own(visit: Visit, name: str) -> CompanyProvider:
    row = visit.company.providers.filter(name=name).select_related("company").first()
    if row is None:
        raise NotFound("There is no such provider.")
    return row


def _number(value: str) -> int | None:
    if not value.strip():
        return None
    number = as_number(value.strip())
    if number is None:
        raise Invalid("How many runs at a time is a number.", field="max_concurrent_runs")
    return number


def _sent_tiers(request: HttpRequest) -> dict[str, ModelChoice]:
    return {tier: _sent_choice(request, tier) for tier in ModelTier}


def _sent_chain(request: HttpRequest) -> list[ModelChoice]:
    """The lines that name somebody, in order."""
    lines = [_sent_choice(request, f"chain-{number}") for number in range(LONGEST_CHAIN + SPARE_LINKS)]
    return [line for line in lines if line != ModelChoice()]


def _sent_choice(request: HttpRequest, name: str) -> ModelChoice:
    sent = request.POST
    return ModelChoice(sent.get(f"{name}-provider", "").strip(), sent.get(f"{name}-model", "").strip())


def _asking(agent: Agent, somebody: Somebody | None) -> Asking:
    if agent.adapter == Adapter.EXTERNAL:
        return Asking(agent, somebody, problem="It works outside of Trimus, by a key of its own.")
    if agent.is_program:
        return Asking(agent, somebody, problem="It is a program of the server, which asks whom it is set up to ask.")
    try:
        first, *others = routes_of(agent)
    except NoProvider as missing:
        return Asking(agent, somebody, problem=str(missing))
    return Asking(agent, somebody, first, tuple(others), entry_for(first.endpoint, first.model))


def _page(
    request: HttpRequest,
    visit: Visit,
    *,
    refusal: Refusal | None = None,
    about: str = "",
    tried: Tried | None = None,
) -> HttpResponse:
    """`about` is the form that was refused: it comes back as it was sent, but for the key."""
    company = visit.company
    company.refresh_from_db()
    names = Names(company)
    agents = Agent.objects.filter(company=company).present().select_related("company").order_by("name", "pk")
    offers = offers_of(company)
    sent_models = about == "models"
    tiers = tiers_of(company) if not sent_models else _sent_tiers(request)
    chain = list(chain_of(company) if not sent_models else _sent_chain(request))
    context: dict[str, Any] = {
        "at": reverse("settings", args=[company.slug]),
        "here": "providers",
        "offers": offers,
        "is_new_here": not any(offer.is_ready for offer in offers if offer.protocol.calls_model),
        "asking": [_asking(agent, names.agents.get(agent.pk)) for agent in agents],
        "tiers": [(tier, *words, tiers.get(tier, ModelChoice())) for tier, words in TIERS_MEAN.items()],
        "chain": [*chain, *[ModelChoice()] * min(SPARE_LINKS, LONGEST_CHAIN - len(chain))],
        "thinking": request.POST.get("default_thinking", "") if sent_models else company.default_thinking,
        "names": provider_names(company),
        "protocols": [spec for spec in load_providers().values() if spec.takes_key],
        "levels": THINKING_LEVELS,
        "sent": request.POST,
        "about": about,
        "tried": tried,
        "problem": own_models().problem if visit.is_owner else "",
        "refusal": refusal,
    }
    response = show(request, visit, "settings/providers.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
