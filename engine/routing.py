"""Which provider and model answer an agent."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from agents.adapters.base import Endpoint
from agents.models import Agent

DEFAULT_MODELS = {"openai": "gpt-5.4-mini", "anthropic": "claude-sonnet-5"}
"""Used where neither agent nor company names one. An operator's choice always stands above."""


class NoProvider(Exception):
    """There is nothing that could answer this agent; the message says what to set."""


@dataclass(frozen=True, slots=True)
class Route:
    endpoint: Endpoint
    model: str


def default_provider() -> str:
    """The provider of new agents: the first that the environment has a key or address for, else none."""
    if settings.LLM.compatible_base_url or settings.LLM.openai_api_key:
        return "openai"
    return "anthropic" if settings.LLM.anthropic_api_key else ""


def choose_endpoint(agent: Agent) -> Route:
    """Where the agent's heartbeats are answered: its own choice, else the company's, else the environment's.

    Raises NoProvider.
    """
    provider = agent.provider or agent.company.default_provider or default_provider()
    model = agent.model or agent.company.default_model
    match provider:
        case "":
            raise NoProvider("No model is configured. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or TRIMUS_LLM_BASE_URL.")
        case "scripted":
            return Route(Endpoint("scripted", script=agent.script), "script")
        case "openai":
            return _openai(model)
        case "anthropic":
            if not settings.LLM.anthropic_api_key:
                raise NoProvider("ANTHROPIC_API_KEY is not set.")
            endpoint = Endpoint(
                "anthropic", base_url=settings.LLM.anthropic_base_url, api_key=settings.LLM.anthropic_api_key
            )
            return Route(endpoint, model or DEFAULT_MODELS["anthropic"])
        case _:
            raise NoProvider(f"There is no provider “{provider}”.")


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
