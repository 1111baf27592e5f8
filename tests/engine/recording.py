"""A provider that is real up to the network: what it would send is kept, and a canned answer comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from agents.adapters import registry
from agents.adapters.anthropic import AnthropicProvider
from agents.adapters.base import Endpoint, Provider
from agents.adapters.openai import OpenAIProvider
from agents.adapters.registry import ProviderSpec
from tests.adapters.wire import answer
from trimus.language_models import LanguageModels

KEYS = LanguageModels(anthropic_api_key="sk-ant-test", openai_api_key="sk-test")
"""For `settings.LLM`: both vendors are there."""

Respond = Callable[[dict[str, Any]], httpx2.Response]


@contextmanager
def recorded(sdk: str, respond: Respond | None = None) -> Iterator[list[dict[str, Any]]]:
    """The bodies that the SDK sends meanwhile, as they come. `respond` answers a body; by default with `Noted.`"""
    bodies: list[dict[str, Any]] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return respond(bodies[-1]) if respond else answer(sdk, "Noted.")

    def make(endpoint: Endpoint) -> Provider:
        transport = httpx2.AsyncClient(transport=httpx2.MockTransport(handle))
        provider = OpenAIProvider if sdk == "openai" else AnthropicProvider
        return provider(endpoint, transport=transport)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "PROVIDERS", (ProviderSpec(sdk, "recorded", make),))
        yield bodies
