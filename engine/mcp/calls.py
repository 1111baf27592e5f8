"""Calls of the API from within this process: what a tool does, it does as a call by the key that it came with.

So the two doors cannot differ: in whose key it is and what it may, in caps, activity, the run that a call belongs to
and the lease that it renews. The API's own threads answer; nothing here touches the database or holds the event loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from issues.rest.once import HEADER
from issues.rest.rates import ADMITTED
from trimus.buffering import Application, Scope
from trimus.exchange import Exchange

_PASSED_ON = (b"host", b"authorization", b"user-agent")
"""Of the client's headers; its cookies are not among them, so that nothing but the key says who calls."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the API, whole."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_refusal(self) -> bool:
        return not 200 <= self.status < 300


class Refused(Exception):
    """The API said no. `words` tell the caller what is wrong and what to do instead; `facts` is all that it said."""

    def __init__(self, words: str, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(words)
        self.words = words
        self.facts = facts or {}


class Api:
    """The API, as the application that serves it. `at_once` calls are under way at most: those who open pages are left
    threads of their own."""

    def __init__(self, pages: Application, *, at_once: int) -> None:
        self.pages = pages
        self.turns = asyncio.Semaphore(at_once)
        self.under_way: set[asyncio.Task[Answer]] = set()

    def caller(self, scope: Scope) -> Caller:
        """Whoever sent this request."""
        return Caller(self, scope)


@dataclass(frozen=True, slots=True)
class Caller:
    """Calls the API as the sender of a request: same connection, same key."""

    api: Api
    scope: Scope

    @property
    def admitted(self) -> Caller:
        """The same, let in: what it calls is part of one request, which is not refused halfway for its rate."""
        return replace(self, scope={**self.scope, ADMITTED: True})

    async def get(self, path: str, **query: Any) -> Any:
        """What is at the path. Parameters that are None are left out. Refused otherwise."""
        return _read(await self.ask("GET", path, query=query))

    async def post(self, path: str, body: Mapping[str, Any] | None = None, *, once: str | None = None) -> Any:
        """What came of it; under a name to do it `once` by, what came of it the first time. Refused otherwise."""
        return _read(await self.ask("POST", path, body=body or {}, once=once))

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        once: str | None = None,
    ) -> Answer:
        """The answer, whatever it is. A client that goes away does not stop what it has asked for: the thread would
        wait for ever on somebody to take its answer, and what is begun is done whole."""
        content = b"" if body is None else json.dumps(body).encode()
        call = asyncio.create_task(self._answer(self._scope(method, path, query or {}, content, once), content))
        self.api.under_way.add(call)
        call.add_done_callback(self.api.under_way.discard)
        return await asyncio.shield(call)

    async def _answer(self, scope: Scope, content: bytes) -> Answer:
        exchange = Exchange(content)
        async with self.api.turns:
            await self.api.pages(scope, exchange.receive, exchange.send)
        return Answer(exchange.status, exchange.headers, exchange.body)

    def _scope(self, method: str, path: str, query: Mapping[str, Any], content: bytes, once: str | None) -> Scope:
        headers = [(name, value) for name, value in self.scope["headers"] if name in _PASSED_ON]
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        headers += [] if once is None else [(HEADER.lower().encode(), once.encode())]
        given = {name: value for name, value in query.items() if value is not None}
        address = f"/api/{path}"
        return {
            **self.scope,
            "method": method,
            "path": address,
            "raw_path": address.encode(),
            "query_string": urlencode(given).encode(),
            "headers": headers,
        }


def _read(answer: Answer) -> Any:
    if answer.is_refusal:
        raise refusal(answer)
    return json.loads(answer.content)


def refusal(answer: Answer) -> Refused:
    """A refusing answer in words: its detail and its hint."""
    if not answer.headers.get("content-type", "").startswith("application/problem+json"):
        return Refused(f"This could not be answered ({answer.status}). The installation's log says why.")
    problem: dict[str, Any] = json.loads(answer.content)
    return Refused(f"{problem['detail']} {problem.get('hint', '')}".strip(), problem)
