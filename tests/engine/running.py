"""Agents that answer as a test wants, and heartbeats run until nothing is due."""

from __future__ import annotations

import asyncio
import textwrap
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import connections

from agents.adapters.base import AdapterError, Completion, ModelRequest, StopReason, Usage
from agents.adapters.registry import ProviderSpec
from agents.models import Agent, Run
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.models import Company
from tests import build

Answer = str | AdapterError | Exception | Completion


def scripted(company: Company, name: str, reply: str, **fields: object) -> Agent:
    """An agent that always answers the same."""
    script = f"- reply: |\n{textwrap.indent(reply, '    ')}\n"
    return build.agent(company, name, provider="scripted", script=script, **fields)


def run_all(most: int = 20) -> list[Run]:
    """Run heartbeats until nothing is due."""
    runs = []
    while (run := claim_next()) is not None:
        heartbeat(run)
        run.refresh_from_db()
        runs.append(run)
        assert len(runs) <= most, "the agents never come to rest"
    return runs


def run_next() -> Run:
    """One heartbeat, of what is due."""
    run = claim_next()
    assert run is not None, "nothing is due"
    heartbeat(run)
    run.refresh_from_db()
    return run


@dataclass
class FakeModel:
    """The model behind all scripted agents of a test, in the place of their scripts. It gives its answers in turn, the
    last one for ever.

    `meanwhile` is what happens while it thinks, once, in a thread and with a database connection of its own. `seconds`
    is how long it thinks.
    """

    answers: Sequence[Answer] = ("Noted.",)
    seconds: float = 0.0
    meanwhile: Callable[[], object] | None = None
    requests: list[ModelRequest] = field(default_factory=list)
    was_cancelled: bool = False

    @property
    def spec(self) -> ProviderSpec:
        return ProviderSpec("scripted", "fake", lambda _endpoint: _FakeProvider(self))

    def act(self) -> None:
        """Do what happens meanwhile."""
        action, self.meanwhile = self.meanwhile, None
        try:
            if action is not None:
                action()
        finally:
            connections.close_all()

    def next_answer(self) -> Completion:
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Completion) else said(answer)


def said(text: str, stop: StopReason = StopReason.END) -> Completion:
    """A completion of that text."""
    return Completion(text=text, model="fake-1", stop_reason=stop, usage=Usage(100, output_tokens=10), seconds=0.1)


@dataclass
class _FakeProvider:
    model: FakeModel

    async def complete(self, request: ModelRequest) -> Completion:
        self.model.requests.append(request)
        try:
            await asyncio.to_thread(self.model.act)
            await asyncio.sleep(self.model.seconds)
        except asyncio.CancelledError:
            self.model.was_cancelled = True
            raise
        return self.model.next_answer()

    async def close(self) -> None:
        """There is nothing to close."""


@dataclass
class OneByOne(Executor):
    """Keeps what it is given, and does one after the other in the thread that says so."""

    given: deque[Callable[[], object]] = field(default_factory=deque)

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        self.given.append(partial(work, *arguments, **options))
        return Future()

    def do_all(self) -> None:
        while self.given:
            self.given.popleft()()
