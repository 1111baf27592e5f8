"""Providers of a company, each behind an address of its own, that answer as a test wants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.utils import timezone

from agents.adapters import registry
from agents.adapters.base import AdapterError, Completion, Endpoint, ErrorKind, ModelRequest, StopReason, Usage
from agents.adapters.registry import ProviderSpec
from issues.models import Company
from tests import build

LONG = 31.0
"""Seconds that a provider asks to wait, so that the adapter does not wait it out itself."""


def failing(kind: ErrorKind, text: str = "") -> AdapterError:
    return AdapterError(kind, text or f"It was {kind.value}.", retry_after=LONG)


@dataclass
class Houses:
    """`says` is what each gives now, by its name; `asked` who was asked for what, in order."""

    says: dict[str, str | AdapterError] = field(default_factory=dict)
    asked: list[tuple[str, ModelRequest]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Who was asked, in order."""
        return [name for name, _ in self.asked]

    def answer(self, endpoint: Endpoint, request: ModelRequest) -> Completion:
        name = endpoint.host.removesuffix(".test")
        self.asked.append((name, request))
        said = self.says.get(name, "Noted.")
        if isinstance(said, AdapterError):
            # A new one each time: what raises it writes on it.
            raise AdapterError(said.kind, said.message, retry_after=said.retry_after)
        return Completion(said, f"{request.model}-1", StopReason.END, Usage(100, output_tokens=10), seconds=0.1)


@dataclass
class _Provider:
    houses: Houses
    endpoint: Endpoint

    async def complete(self, request: ModelRequest) -> Completion:
        return self.houses.answer(self.endpoint, request)

    async def close(self) -> None:
        """There is nothing to close."""


@contextmanager
def standing() -> Iterator[Houses]:
    """Every provider that speaks like OpenAI or Anthropic is one of these meanwhile."""
    houses = Houses()
    specs = tuple(ProviderSpec(name, name, partial(_Provider, houses)) for name in ("openai", "anthropic"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "PROVIDERS", specs)
        yield houses


def build_houses(company: Company, *names: str) -> None:
    """Providers of the company, by these names and at hosts of these names, each with a key."""
    for name in names:
        build.provider(company, name, base_url=f"http://{name}.test/v1", key=f"key-of-{name}-{company.key}-0123456789")


def past() -> datetime:
    """A moment ago, for what is to be over."""
    return timezone.now() - timedelta(seconds=1)
