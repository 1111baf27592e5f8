"""Skills: know-how that agents can apply."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import Prefetch, QuerySet
from rest_framework import serializers

from agents.models import Agent, Skill
from agents.services.skills import create_skill, edit_skill
from issues.actors import Actor, Worker
from issues.keysets import OLDEST_FIRST
from issues.models import Member
from issues.refusals import Invalid
from issues.rest.paging import Page
from issues.rest.references import everybody_named
from issues.rest.scope import Scope, row_in_scope, scope_of
from issues.rest.shapes import Form, Shape, StampField, WrittenField
from issues.rest.views import CompanyQuery, Resource, operation

TAG = "Skills"


class SkillRowShape(Shape):
    """Know-how of the company."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField()
    enabled = serializers.BooleanField()
    updated_at = StampField()


class SkillShape(SkillRowShape):
    """A skill with its text."""

    body = serializers.CharField(help_text="Markdown.")
    agents = serializers.SerializerMethodField(help_text="Handles of the agents that it is for; none means all.")

    def get_agents(self, skill: Skill) -> list[str]:
        return [agent.handle for agent in skill.agents.all()]


class SkillForm(Form):
    name = serializers.CharField(max_length=80)
    body = WrittenField(help_text="Markdown.")
    description = serializers.CharField(required=False, allow_blank=True, max_length=300)
    agents = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        max_length=1_000,
        help_text="Handles or names of the agents that it is for; none means all.",
    )


class NewSkillForm(SkillForm):
    company = serializers.CharField(required=False, default="", max_length=10)


class EditedSkillForm(SkillForm):
    enabled = serializers.BooleanField(required=False, help_text="One that is off is shown to no agent.")


class Skills(Resource):
    @operation("List skills", tag=TAG, query=CompanyQuery, answer=SkillRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Skill]:
        """An agent is shown those it can apply."""
        scope = scope_of(self.actor, query["company"])
        return self.page(_visible(scope.actor).filter(company=scope.company).defer("body"), OLDEST_FIRST, query)

    @operation("Add a skill", tag=TAG, body=NewSkillForm, answer=SkillShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> Skill:
        """People only; an agent proposes one, by the verb install-skill."""
        scope = scope_of(self.actor, form["company"])
        return create_skill(actor=scope.actor, company=scope.company, **_resolved(scope, form))


class SkillItem(Resource):
    @operation("Get a skill", tag=TAG, answer=SkillShape)
    def get(self, *, id: int) -> Skill:
        return row_in_scope(self.actor, _whole(self.actor), id)[1]

    @operation("Change a skill", tag=TAG, body=EditedSkillForm, answer=SkillShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Skill:
        """Change what is given. Prompts that are under way keep what they have."""
        scope, skill = row_in_scope(self.actor, _whole(self.actor), id)
        return edit_skill(actor=scope.actor, skill=skill, **_resolved(scope, form)) if form else skill


def _visible(actor: Actor) -> QuerySet[Skill]:
    rows = Skill.objects.for_agent(actor.agent.pk) if isinstance(actor, Worker) else Skill.objects.all()
    return rows.select_related("company")


def _whole(actor: Actor) -> QuerySet[Skill]:
    named = Agent.objects.only("pk", "handle").order_by("handle")
    return _visible(actor).prefetch_related(Prefetch("agents", named))


def _resolved(scope: Scope, form: Mapping[str, Any]) -> dict[str, Any]:
    """The form with agents in place of their names."""
    fields = {name: value for name, value in form.items() if name != "company"}
    if "agents" in fields:
        named = everybody_named(scope, fields["agents"], "agents")
        if any(isinstance(one, Member) for one in named):
            raise Invalid("Skills are for agents.", field="agents")
        fields["agents"] = named
    return fields
