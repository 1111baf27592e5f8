"""Listening to event streams, without a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.test import Client

from issues import events
from issues.actors import Person
from tests.left_open import close_in_threads
from trimus.buffering import Application


@dataclass
class Listener:
    """One request to the stream."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)
    ended: bool = False
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.received += [part for part in message["body"].decode().split("\n\n") if part]
            self.ended = not message.get("more_body")
        self.arrived.set()

    def changes(self) -> list[tuple[int, dict[str, Any]]]:
        found = []
        for event in self.received:
            lines = dict(line.split(": ", 1) for line in event.split("\n") if ": " in line)
            if lines.get("event") == "change":
                found.append((int(lines["id"]), json.loads(lines["data"])))
        return found

    async def until(self, condition: Callable[[], Any], seconds: float = 30.0) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                self.arrived.clear()
                await self.arrived.wait()


def cookie_of(person: Person) -> str:
    client = Client()
    client.force_login(person.user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


@contextlib.asynccontextmanager
async def open_stream(
    application: Application, path: str, *, query: str = "", **headers: str
) -> AsyncIterator[Listener]:
    """Ask the application for the stream, and leave it at the end."""
    listener = Listener()
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items() if value],
    }

    async def receive() -> dict[str, str]:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    task = asyncio.create_task(application(scope, receive, listener.send))
    try:
        await listener.until(lambda: listener.status)
        yield listener
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def hear(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 90))


@pytest.fixture
def own_feed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has an event loop of its own, so a feed of its own; pings come soon."""
    monkeypatch.setattr(events, "_feed", events.Feed())
    monkeypatch.setattr(events, "POLL_SECONDS", 0.02)
    yield
    close_in_threads(events._database, 1)
    asyncio.run(sync_to_async(connections.close_all)())
