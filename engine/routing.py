"""Which providers and models answer an agent: its own choice first, then its company's chain."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.utils.crypto import salted_hmac

from agents.adapters.base import VENDOR_URLS, Endpoint
from agents.model_choices import ModelChoice, chain_of, tier_of, tiers_of
from agents.models import Agent, CompanyProvider, ModelTier
from agents.programs.registry import BY_ADAPTER
from issues.models import Company
from issues.sealing import Unsealable, unseal
from issues.secrets import mask_known

DEFAULT_MODELS = {"openai": "gpt-5.4-mini", "anthropic": "claude-sonnet-5"}
"""Used where neither agent nor company names one. An operator's choice always stands above."""

NOTHING_IS_SET = (
    "No model is configured. Add a provider in the settings, or set OPENAI_API_KEY, ANTHROPIC_API_KEY or"
    " TRIMUS_LLM_BASE_URL."
)


class NoProvider(Exception):
    """There is nothing that could answer this agent; the message says what to set."""


@dataclass(frozen=True, slots=True)
class Route:
    """One way to an answer. `provider` is the name that people know it by; `own_of` is the company whose own provider
    it is, None where it is the environment's."""

    endpoint: Endpoint
    model: str
    provider: str = ""
    own_of: int | None = None

    @property
    def name(self) -> str:
        return self.provider or self.endpoint.provider

    @property
    def key(self) -> str:
        """What its breaker and its limit go by: a keyed hash of address and credential, and of the company whose own
        they are. Empty for a script or a program, which have neither."""
        if self.endpoint.provider == "scripted" or self.is_program:
            return ""
        who = f"{self.own_of or ''}\n{self.endpoint.provider}\n{self.endpoint.url}\n{self.endpoint.api_key}"
        return salted_hmac("trimus.endpoint", who, algorithm="sha256").hexdigest()

    @property
    def is_program(self) -> bool:
        """Whether a program of this server answers, which may ask a model by itself."""
        return self.endpoint.provider in BY_ADAPTER

    @property
    def counts_as(self) -> str:
        """Under which name its token counts are learnt. What a company's own server reports concerns nobody else."""
        return self.endpoint.provider if self.own_of is None else f"{self.name}@{self.own_of}"


def routes_of(agent: Agent) -> tuple[Route, ...]:
    """Whom the agent's heartbeats may ask, in turn: at least one. Raises NoProvider if there is none.

    A script has no model to fall back to, nor has a program. What is not set up here is left out while
    anything else is.
    """
    if agent.is_program:
        return (_program(agent),)
    if agent.is_scripted:
        return (Route(Endpoint("scripted", script=agent.script), "script"),)
    return _routes(agent.company, choice_of(agent))


def background_routes(agent: Agent) -> tuple[Route, ...]:
    """Whom small work beside the agent's runs asks: the light tier if the company says what that is, else the agent's
    own, or the standard tier for a program. Raises NoProvider."""
    if agent.is_program:
        return _routes(agent.company, tier_of(agent.company, ModelTier.LIGHT))
    if ModelTier.LIGHT not in tiers_of(agent.company):
        return routes_of(agent)
    return _routes(agent.company, tier_of(agent.company, ModelTier.LIGHT))


def choose_endpoint(agent: Agent) -> Route:
    """Whom the agent asks first. Raises NoProvider."""
    return routes_of(agent)[0]


def choice_of(agent: Agent) -> ModelChoice:
    """What the agent names, or its tier means: the standard one if it names nothing."""
    if agent.provider:
        return ModelChoice(agent.provider, agent.model)
    tier = tier_of(agent.company, ModelTier(agent.model_tier or ModelTier.STANDARD))
    return ModelChoice(tier.provider, agent.model or tier.model)


def route_to(company: Company, choice: ModelChoice) -> Route:
    """The way to a provider and model of the company or the environment. Raises NoProvider."""
    own = own_providers(company)
    name = choice.provider or next(iter(own), "") or default_provider()
    if name in own:
        return _own_route(company, own[name], choice.model)
    match name:
        case "":
            raise NoProvider(NOTHING_IS_SET)
        case "openai":
            return _openai(choice.model)
        case "anthropic":
            if not settings.LLM.anthropic_api_key:
                raise NoProvider("ANTHROPIC_API_KEY is not set.")
            endpoint = Endpoint(
                "anthropic", base_url=settings.LLM.anthropic_base_url, api_key=settings.LLM.anthropic_api_key
            )
            return Route(endpoint, choice.model or DEFAULT_MODELS["anthropic"])
        case _:
            raise NoProvider(f"There is no provider “{name}”.")


def default_provider() -> str:
    """The first that the environment has a key or address for, else none."""
    if settings.LLM.compatible_base_url or settings.LLM.openai_api_key:
        return "openai"
    return "anthropic" if settings.LLM.anthropic_api_key else ""


@dataclass(frozen=True, slots=True)
class OwnProvider:
    """A company's provider as it is called: `problem` says why it cannot be."""

    name: str
    endpoint: Endpoint
    model: str
    max_concurrent_runs: int | None
    problem: str = ""


def secrets_of(company: Company) -> tuple[str, ...]:
    """Keys that no text of the company's agents may hold: its own, and those of the environment."""
    own = (provider.endpoint.api_key for provider in own_providers(company).values())
    return (*own, *settings.LLM.secrets)


def masked(text: str, company: Company) -> str:
    """What a provider of the company said, without a key: servers echo them."""
    return mask_known(text, secrets_of(company))


def own_providers(company: Company) -> Mapping[str, OwnProvider]:
    """The company's providers by name, in the order they were added. Read from the database once for each change of
    them: the company's row says when that was."""
    if not company.providers_stamp:
        return {}
    with _reading:
        if company.providers_stamp in _read:
            _read.move_to_end(company.providers_stamp)
            return _read[company.providers_stamp]
    found = {row.name: _own_provider(row) for row in CompanyProvider.objects.filter(company=company)}
    with _reading:
        _read[company.providers_stamp] = found
        while len(_read) > _MOST_COMPANIES:
            _read.popitem(last=False)
    return found


_MOST_COMPANIES = 4_096
"""Far more than come by between a claim and its run's end, which so finds them without a database connection."""

_read: OrderedDict[str, Mapping[str, OwnProvider]] = OrderedDict()
_reading = threading.Lock()


def _own_provider(row: CompanyProvider) -> OwnProvider:
    only_public = bool(row.base_url) and not settings.PRIVATE_MODEL_URLS
    key, problem = "", ""
    try:
        key = unseal(row.sealed_key)
    except Unsealable as error:
        problem = f"The key of “{row.name}” cannot be read. {error}"
    endpoint = Endpoint(row.protocol, base_url=row.base_url, api_key=key, set_by_company=True, only_public=only_public)
    return OwnProvider(row.name, endpoint, row.model, row.max_concurrent_runs, problem)


def _own_route(company: Company, own: OwnProvider, model: str) -> Route:
    if own.problem:
        raise NoProvider(own.problem)
    chosen = model or own.model or ("" if own.endpoint.base_url else DEFAULT_MODELS.get(own.endpoint.provider, ""))
    if not chosen:
        raise NoProvider(f"“{own.name}” is to be asked, but nothing says for which model.")
    return Route(own.endpoint, chosen, provider=own.name, own_of=company.pk)


def _program(agent: Agent) -> Route:
    """The agent's program. Its vendor's address is never called from here: windows and prices are found by it."""
    vendor = BY_ADAPTER[agent.adapter].asks
    return Route(Endpoint(agent.adapter, base_url=VENDOR_URLS.get(vendor, "")), agent.model)


def _routes(company: Company, first: ModelChoice) -> tuple[Route, ...]:
    routes: dict[Route, None] = {}
    problem: NoProvider | None = None
    for choice in (first, *chain_of(company)):
        try:
            routes[route_to(company, choice)] = None
        except NoProvider as missing:
            problem = problem or missing
    if not routes:
        raise problem or NoProvider(NOTHING_IS_SET)
    return tuple(routes)


def _openai(model: str) -> Route:
    """A compatible server given by TRIMUS_LLM_BASE_URL goes before the vendor: who set it meant it. It gets a key of
    its own or none, never the vendor's."""
    llm = settings.LLM
    if llm.compatible_base_url:
        endpoint = Endpoint("openai", base_url=llm.compatible_base_url, api_key=llm.compatible_api_key)
        chosen = model or llm.compatible_model
        if not chosen:
            raise NoProvider("TRIMUS_LLM_MODEL is not set.")
        return Route(endpoint, chosen)
    if not llm.openai_api_key:
        raise NoProvider("OPENAI_API_KEY is not set.")
    endpoint = Endpoint("openai", base_url=llm.openai_base_url, api_key=llm.openai_api_key)
    return Route(endpoint, model or DEFAULT_MODELS["openai"])
