"""The reporting line: who reports to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from agents.models import Agent, AgentStatus
from issues.rest.scope import scope_of
from issues.rest.shapes import Query, Shape
from issues.rest.views import Resource, operation


class PositionShape(Shape):
    """An agent in the reporting line."""

    id = serializers.IntegerField(source="agent.id")
    handle = serializers.CharField(source="agent.handle")
    name = serializers.CharField(source="agent.name")
    role = serializers.CharField(source="agent.role")
    title = serializers.CharField(source="agent.title")
    status = serializers.ChoiceField(choices=AgentStatus.choices, source="agent.status")
    manager = serializers.CharField(allow_null=True, help_text="A handle; null at the top.")
    depth = serializers.IntegerField(help_text="How many stand above it: 0 at the top.")


class OrgShape(Shape):
    """The reporting line of a company."""

    company = serializers.CharField()
    agents = PositionShape(many=True, help_text="Each directly followed by those that report to it.")


@dataclass(frozen=True, slots=True)
class Position:
    agent: Agent
    manager: str | None
    depth: int


@dataclass(frozen=True, slots=True)
class ReportingLine:
    company: str
    agents: Sequence[Position]


class OrgQuery(Query):
    company = serializers.CharField(
        required=False, default="", max_length=10, help_text="Key of the company; needed by who is in several."
    )


class Org(Resource):
    @operation("Get the reporting line", tag="Agents", query=OrgQuery, answer=OrgShape)
    def get(self, *, query: Mapping[str, Any]) -> ReportingLine:
        """All agents that are not terminated. Who reported to one that is stands at the top."""
        company = scope_of(self.actor, query["company"]).company
        agents = company.agents.present().defer("instructions", "knowledge", "script").order_by("pk")
        return ReportingLine(company.key, list(_positions(list(agents))))


def _positions(agents: Sequence[Agent]) -> Iterator[Position]:
    """From the top down; the services see to it that there is no ring."""
    present = {agent.pk: agent for agent in agents}
    reports: dict[int | None, list[Agent]] = defaultdict(list)
    for agent in agents:
        reports[agent.manager_id if agent.manager_id in present else None].append(agent)
    waiting = [Position(agent, None, 0) for agent in reversed(reports[None])]
    while waiting:
        position = waiting.pop()
        yield position
        below = reversed(reports[position.agent.pk])
        waiting += [Position(agent, position.agent.handle, position.depth + 1) for agent in below]
