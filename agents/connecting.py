"""How an agent that works outside of Trimus is connected: where it calls, and what its program is set up with."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass

from django.db.models import Count, Max, Q
from django.utils import timezone

from agents.models import Agent

SOME_KEY = "trm_…"
"""Stands where a key goes that is not at hand."""


@dataclass(frozen=True, slots=True)
class Connection:
    """What to tell a program: where the skill is, and the settings of a client of the tools. `keys` is how many keys of
    the agent work; its `last_call` is told to the minute."""

    skill: str
    client: str
    keys: int
    last_call: datetime.datetime | None


def connection_of(agent: Agent, address: str, *, key: str = SOME_KEY) -> Connection:
    """How the agent is connected to this installation, which is called at `address`; with a key just made, ready to be
    copied."""
    works = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    found = agent.api_keys.filter(run=None).aggregate(keys=Count("pk", filter=works), last_call=Max("last_used_at"))
    address = address.rstrip("/")
    server = {"type": "http", "url": f"{address}/mcp", "headers": {"Authorization": f"Bearer {key}"}}
    client = json.dumps({"mcpServers": {"trimus": server}}, indent=2, ensure_ascii=False)
    return Connection(f"{address}/skill.md", client, **found)
