"""Agents: the roster, hiring, changing, pausing, ending, waking."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from agents.api.wakeups import WakeupShape
from agents.models import Adapter, Agent, AgentStatus, ModelTier, PolicyPreset, Tier, Wakeup
from agents.services.agents import (
    edit_agent,
    hire_agent,
    pause_agent,
    resume_agent,
    set_manager,
    terminate_agent,
)
from agents.services.wakeups import run_agent, run_heartbeat
from issues.actors import Actor, Worker
from issues.effects import unit
from issues.keysets import OLDEST_FIRST
from issues.refusals import NotFound
from issues.rest.paging import Page
from issues.rest.references import agent_named, issue_named
from issues.rest.scope import Scope, row_in_scope, scope_of
from issues.rest.shapes import CommaField, Form, Shape, StampField, WrittenField, texts_of
from issues.rest.views import CompanyQuery, Resource, operation

TAG = "Agents"


class AgentRowShape(Shape):
    """An agent, as the roster has it."""

    id = serializers.IntegerField()
    handle = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField(help_text="`triage` hands work on.")
    title = serializers.CharField()
    description = serializers.CharField()
    manager = serializers.CharField(source="manager.handle", allow_null=True)
    status = serializers.ChoiceField(choices=AgentStatus.choices)
    adapter = serializers.ChoiceField(choices=Adapter.choices)
    model_tier = serializers.ChoiceField(choices=[("", "None"), *ModelTier.choices])
    provider = serializers.CharField(help_text="By its name; empty: what its tier means, or the standard one.")
    model = serializers.CharField(help_text="Empty: the provider's own.")


class AgentShape(AgentRowShape):
    """An agent, whole. What other agents may not read of it is null for them."""

    policy = serializers.ChoiceField(choices=PolicyPreset.choices)
    instructions = serializers.CharField(allow_null=True)
    knowledge = serializers.CharField(allow_null=True)
    script = serializers.CharField(allow_null=True, help_text="The replies of a scripted agent.")
    command = serializers.CharField(allow_null=True, help_text="What is run on the server, for a program.")
    tier = serializers.ChoiceField(choices=[("", "By the model"), *Tier.choices])
    thinking = serializers.CharField()
    max_output_tokens = serializers.IntegerField(allow_null=True)
    max_concurrent_runs = serializers.IntegerField()
    schedule_minutes = serializers.IntegerField(allow_null=True)
    active_hours = serializers.CharField(
        help_text="When it looks for work itself, in the company's zone; empty: always."
    )
    created_at = StampField()


class AgentForm(Form):
    """What can be said of an agent."""

    name = serializers.CharField(max_length=120)
    role = serializers.CharField(required=False, allow_blank=True, max_length=60)
    title = serializers.CharField(required=False, allow_blank=True, max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, max_length=300)
    instructions = WrittenField(required=False, allow_blank=True)
    knowledge = WrittenField(required=False, allow_blank=True)
    manager = serializers.CharField(required=False, allow_null=True, help_text="The handle of an agent.")
    adapter = serializers.ChoiceField(choices=Adapter.choices, required=False)
    model_tier = serializers.ChoiceField(
        choices=[("", "None"), *ModelTier.choices], required=False, help_text="Instead of a provider and a model."
    )
    provider = serializers.CharField(required=False, allow_blank=True, max_length=40)
    model = serializers.CharField(required=False, allow_blank=True, max_length=120)
    script = WrittenField(required=False, allow_blank=True)
    command = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1_000,
        trim_whitespace=False,
        help_text="What is run on the server, for a program. Owners alone set it.",
    )
    tier = serializers.ChoiceField(choices=[("", "By the model"), *Tier.choices], required=False)
    thinking = serializers.CharField(required=False, allow_blank=True, max_length=10)
    max_output_tokens = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=1_000_000)
    policy = serializers.ChoiceField(choices=PolicyPreset.choices, required=False)
    max_concurrent_runs = serializers.IntegerField(required=False, min_value=1, max_value=100)
    schedule_minutes = serializers.IntegerField(required=False, allow_null=True, min_value=5, max_value=1_440)
    active_hours = serializers.CharField(
        required=False, allow_blank=True, max_length=13, help_text="As 08:00-18:00 in the company's zone."
    )


class NewAgentForm(AgentForm):
    company = serializers.CharField(required=False, default="", max_length=10)
    handle = serializers.CharField(required=False, max_length=40, help_text="Made from the name unless given.")


class AgentQuery(CompanyQuery):
    handle = serializers.CharField(required=False, max_length=40)
    status = CommaField(child=serializers.ChoiceField(choices=AgentStatus.choices), required=False)


class HeartbeatForm(Form):
    issue = serializers.CharField(required=False, help_text="An identifier. Without: what it would go on with itself.")
    note = serializers.CharField(required=False, allow_blank=True, help_text="Said in the prompt.")


class Agents(Resource):
    @operation("List agents", tag=TAG, query=AgentQuery, answer=AgentRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Agent]:
        """The agents of a company, terminated ones included."""
        scope = scope_of(self.actor, query["company"])
        rows = scope.company.agents.select_related("manager").defer(*_TEXTS, *texts_of("manager"))
        if "handle" in query:
            rows = rows.filter(handle=query["handle"].removeprefix("@").lower())
        if "status" in query:
            rows = rows.filter(status__in=query["status"])
        return self.page(rows, OLDEST_FIRST, query)

    @operation("Hire an agent", tag=TAG, body=NewAgentForm, answer=AgentShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> Agent:
        """It is at work at once."""
        scope = scope_of(self.actor, form["company"])
        fields = {name: value for name, value in form.items() if name not in ("company", "manager")}
        manager = _manager(scope, form.get("manager"))
        return hire_agent(actor=scope.actor, company=scope.company, manager=manager, **fields)


class AgentMe(Resource):
    @operation("Get the calling agent", tag=TAG, answer=AgentShape)
    def get(self) -> Agent:
        """Whoever the key is of. A person has no such address; see `/api/me`."""
        if not isinstance(self.actor, Worker):
            raise NotFound("The caller is no agent.")
        return _agents().get(pk=self.actor.agent.pk)


class AgentItem(Resource):
    @operation("Get an agent", tag=TAG, answer=AgentShape)
    def get(self, *, id: int) -> Agent:
        """Agents are not shown one another's instructions."""
        _, agent = row_in_scope(self.actor, _agents(), id)
        return _as_seen_by(self.actor, agent)

    @operation("Change an agent", tag=TAG, body=AgentForm, answer=AgentShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Agent:
        scope, agent = row_in_scope(self.actor, _agents(), id)
        fields = {name: value for name, value in form.items() if name != "manager"}
        with unit():  # both or neither
            if "manager" in form:
                agent = set_manager(actor=scope.actor, agent=agent, manager=_manager(scope, form["manager"]))
            if fields:
                agent = edit_agent(actor=scope.actor, agent=agent, **fields)
        return agent

    @operation("Terminate an agent", tag=TAG)
    def delete(self, *, id: int) -> None:
        """The board may, and any other agent of the company; never the agent itself. The board is told, and can
        resume it."""
        scope, agent = row_in_scope(self.actor, _agents(), id)
        terminate_agent(actor=scope.actor, agent=agent)


class AgentPause(Resource):
    @operation("Pause an agent", tag=TAG, answer=AgentShape)
    def post(self, *, id: int) -> Agent:
        """It starts nothing until it is resumed; what is pending waits."""
        scope, agent = row_in_scope(self.actor, _agents(), id)
        return pause_agent(actor=scope.actor, agent=agent)


class AgentResume(Resource):
    @operation("Resume an agent", tag=TAG, answer=AgentShape)
    def post(self, *, id: int) -> Agent:
        """Also one that was terminated."""
        scope, agent = row_in_scope(self.actor, _agents(), id)
        return resume_agent(actor=scope.actor, agent=agent)


class AgentHeartbeat(Resource):
    @operation("Run an agent", tag=TAG, body=HeartbeatForm, answer=WakeupShape, status=HTTPStatus.ACCEPTED)
    def post(self, *, id: int, form: Mapping[str, Any]) -> Wakeup:
        """Let it look at an issue now. Refused, with the reason, if it has nothing to go on with."""
        scope, agent = row_in_scope(self.actor, _agents(), id)
        issue = issue_named(scope, form.get("issue"), "issue")
        note = form.get("note", "")
        if issue is None:
            return run_agent(actor=scope.actor, agent=agent, note=note)
        return run_heartbeat(actor=scope.actor, agent=agent, issue=issue, note=note)


_TEXTS = ("instructions", "knowledge", "script")


def _agents() -> QuerySet[Agent]:
    return Agent.objects.select_related("company", "manager").defer(*texts_of("manager"))


def _as_seen_by(actor: Actor, agent: Agent) -> Agent:
    """The agent, without the texts that are nobody else's when another agent looks."""
    if isinstance(actor, Worker) and actor.agent.pk != agent.pk:
        agent.instructions = agent.knowledge = None  # type: ignore[assignment] # shown, never saved
        agent.script = agent.command = None  # type: ignore[assignment]
    return agent


def _manager(scope: Scope, handle: str | None) -> Agent | None:
    if handle is None or handle.strip().lower() == "none":
        return None
    return agent_named(scope, handle, "manager")
