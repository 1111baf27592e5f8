"""Skills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from agents.models import Skill
from issues.actors import Actor, Worker
from issues.keysets import OLDEST_FIRST
from issues.rest.paging import Page
from issues.rest.scope import row_in_scope, scope_of
from issues.rest.shapes import Shape, StampField
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


class Skills(Resource):
    @operation("List skills", tag=TAG, query=CompanyQuery, answer=SkillRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Skill]:
        """An agent is shown those it can apply."""
        scope = scope_of(self.actor, query["company"])
        return self.page(_visible(scope.actor).filter(company=scope.company).defer("body"), OLDEST_FIRST, query)


class SkillItem(Resource):
    @operation("Get a skill", tag=TAG, answer=SkillShape)
    def get(self, *, id: int) -> Skill:
        return row_in_scope(self.actor, _visible(self.actor), id)[1]


def _visible(actor: Actor) -> QuerySet[Skill]:
    rows = Skill.objects.for_agent(actor.agent.pk) if isinstance(actor, Worker) else Skill.objects.all()
    return rows.select_related("company")
