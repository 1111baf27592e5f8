"""Models and providers: what this installation can ask, how it has been answering, and which agent asks what."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from agents.adapters.registry import PROVIDERS, ProviderSpec
from agents.catalogue import ModelEntry
from agents.models import Adapter, Agent, ModelCall
from agents.own_models import entry_for, own_models
from engine.routing import NoProvider, choose_endpoint
from issues.models.company import THINKING_LEVELS
from issues.names import Names, Somebody
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Refusal
from issues.services.companies import change_company

HEALTH = datetime.timedelta(hours=24)
"""How far back the health of a provider looks."""

DEFAULTS = ("default_provider", "default_model", "light_model", "default_thinking")


@dataclass(frozen=True, slots=True)
class Offered:
    """A provider with whether it can be asked here, by what, and how its calls went lately."""

    spec: ProviderSpec
    is_configured: bool
    how: str
    calls: int
    errors: int
    last: datetime.datetime | None


@dataclass(frozen=True, slots=True)
class Asking:
    """An agent with the model that would answer it now, or why none would."""

    agent: Agent
    somebody: Somebody | None
    provider: str = ""
    model: str = ""
    entry: ModelEntry | None = None
    problem: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def providers(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Posted to, it sets what agents ask that name nothing themselves."""
    if request.method != "POST":
        return _page(request, visit)
    changes = {name: request.POST.get(name, "").strip() for name in DEFAULTS}
    try:
        change_company(actor=visit.person, company=visit.company, **changes)
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal)
    to = reverse("providers", args=[visit.company.slug])
    return changed(request, "The defaults are saved.", to=to, moves_on=True)


def _offered(visit: Visit) -> list[Offered]:
    since = timezone.now() - HEALTH
    figures = {
        row["provider"]: row
        for row in ModelCall.objects.filter(company=visit.company, started_at__gte=since)
        .values("provider")
        .annotate(calls=Count("pk"), errors=Count("pk", filter=~Q(error_kind="")), last=Max("started_at"))
    }
    nothing: dict[str, Any] = {"calls": 0, "errors": 0, "last": None}
    offered = []
    for spec in PROVIDERS:
        how = _how(spec.name)
        row = figures.get(spec.name, nothing)
        offered.append(Offered(spec, bool(how) or not spec.calls_model, how, row["calls"], row["errors"], row["last"]))
    return offered


def _how(provider: str) -> str:
    """By what a provider is configured; empty if it is not. Keys themselves are shown nowhere."""
    llm = settings.LLM
    match provider:
        case "openai" if llm.compatible_base_url:
            return "TRIMUS_LLM_BASE_URL"
        case "openai" if llm.openai_api_key:
            return "OPENAI_API_KEY"
        case "anthropic" if llm.anthropic_api_key:
            return "ANTHROPIC_API_KEY"
    return ""


def _asking(agent: Agent, somebody: Somebody | None) -> Asking:
    if agent.adapter == Adapter.EXTERNAL:
        return Asking(agent, somebody, problem="It works outside of Trimus, by a key of its own.")
    try:
        route = choose_endpoint(agent)
    except NoProvider as missing:
        return Asking(agent, somebody, problem=str(missing))
    entry = entry_for(route.endpoint, route.model)
    return Asking(agent, somebody, provider=route.endpoint.provider, model=route.model, entry=entry)


def _page(request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None) -> HttpResponse:
    names = Names(visit.company)
    agents = Agent.objects.filter(company=visit.company).present().select_related("company").order_by("name", "pk")
    sent = refusal is not None
    context = {
        "at": reverse("settings", args=[visit.company.slug]),
        "here": "providers",
        "offered": _offered(visit),
        "asking": [_asking(agent, names.agents.get(agent.pk)) for agent in agents],
        "values": {name: request.POST.get(name, "") if sent else getattr(visit.company, name) for name in DEFAULTS},
        "providers": PROVIDERS,
        "levels": THINKING_LEVELS,
        "problem": own_models().problem if visit.is_owner else "",
        "refusal": refusal,
    }
    response = show(request, visit, "settings/providers.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
