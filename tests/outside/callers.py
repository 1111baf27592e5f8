"""Calling `/mcp`: by the protocol's own client, and by hand."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from agents.models import Agent
from issues.models import KeyScope
from issues.services.keys import create_agent_key
from tests import build

CURRENT, BEFORE = "2026-07-28", "2025-11-25"
_ids = itertools.count(1)
_connections = httpx2.Client(timeout=30, trust_env=False)


def key_of(agent: Agent, **options: Any) -> str:
    return create_agent_key(actor=build.owner_of(agent.company), agent=agent, **options)[1]


@dataclass(frozen=True)
class Result:
    """What a tool answered."""

    text: str
    data: Any
    is_error: bool


@dataclass(frozen=True)
class Rpc:
    """Calls by hand, in the revision before: one request each, and nothing in between."""

    url: str
    key: str = ""

    @classmethod
    def of_agent(cls, url: str, agent: Agent, **options: Any) -> Rpc:
        return cls(url, key_of(agent, **options))

    @classmethod
    def reading(cls, url: str, agent: Agent) -> Rpc:
        return cls.of_agent(url, agent, scope=KeyScope.READ)

    def send(self, content: bytes, *, method: str = "POST", query: str = "", **headers: str) -> httpx2.Response:
        own = {"Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": BEFORE}
        own |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return _connections.request(method, f"{self.url}/mcp{query}", content=content, headers=own | headers)

    def ask(self, method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params}
        answer = self.send(json.dumps(body).encode())
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    def use(self, tool: str, **arguments: Any) -> Result:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        return Result(result["content"][0]["text"], result.get("structuredContent"), result["isError"])


def as_client(url: str, key: str, mode: str, story: Callable[[Client], Awaitable[None]]) -> None:
    """Let the protocol's own client live through the story."""

    async def live() -> None:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                await story(client)

    asyncio.run(asyncio.wait_for(live(), 60))
