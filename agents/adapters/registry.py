"""The providers by name. One's own is added by the path of its ProviderSpec, never by discovery."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from agents.adapters.base import Endpoint, Provider


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """What there is to know of a provider before it is called.

    `label` is its name for people. `takes_key` and `takes_base_url` say which settings make sense for it;
    `calls_model` is False where no model is behind it. `make` is called on the event loop that the provider
    is used on.
    """

    name: str
    label: str
    make: Callable[[Endpoint], Provider]
    takes_key: bool = True
    takes_base_url: bool = True
    calls_model: bool = True


# Each SDK takes up to a second to import and is wanted only where a model is called: so inside the functions.


def _openai(endpoint: Endpoint) -> Provider:
    from agents.adapters.openai import OpenAIProvider

    return OpenAIProvider(endpoint)


def _anthropic(endpoint: Endpoint) -> Provider:
    from agents.adapters.anthropic import AnthropicProvider

    return AnthropicProvider(endpoint)


def _scripted(endpoint: Endpoint) -> Provider:
    from agents.adapters.scripted import ScriptedProvider

    return ScriptedProvider(endpoint)


PROVIDERS: tuple[ProviderSpec, ...] = (
    ProviderSpec("openai", "OpenAI or compatible (Chat Completions)", _openai),
    ProviderSpec("anthropic", "Anthropic or compatible (Messages)", _anthropic),
    ProviderSpec("scripted", "scripted, no model", _scripted, takes_key=False, takes_base_url=False, calls_model=False),
)


def load_providers(paths: Iterable[str] = ()) -> Mapping[str, ProviderSpec]:
    """The built-in providers and those at the given paths (`package.module:NAME`), by name; a later one
    replaces.

    Raises ImportError or AttributeError for a path that leads nowhere, TypeError for one that leads to
    something else.
    """
    specs = [*PROVIDERS]
    for path in paths:
        found = pkgutil.resolve_name(path)
        if not isinstance(found, ProviderSpec):
            raise TypeError(f"{path} is no ProviderSpec")
        specs.append(found)
    return {spec.name: spec for spec in specs}
