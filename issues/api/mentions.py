"""Whom a text would call, asked before it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from issues.models import Member
from issues.rest.references import issue_named
from issues.rest.scope import scope_of
from issues.rest.shapes import Form, Shape, SomebodyShape, WrittenField, refer
from issues.rest.views import Resource, operation
from issues.services.comments import preview_wakes
from issues.services.mentions import mentioned_in

if TYPE_CHECKING:
    from agents.models import Agent


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody whom a text calls."""

    kind: str
    handle: str
    name: str


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a text would do."""

    wakes: list[Named]
    tells: list[Named]
    unknown: tuple[str, ...]
    ambiguous: tuple[str, ...]


class MentionedShape(Shape):
    """What a text would do, and which @words of it call nobody."""

    wakes = SomebodyShape(many=True, help_text="Agents.")
    tells = SomebodyShape(many=True, help_text="People.")
    unknown = serializers.ListField(child=serializers.CharField(), help_text="@words that name nobody.")
    ambiguous = serializers.ListField(child=serializers.CharField(), help_text="@words that name several.")


class TextForm(Form):
    company = serializers.CharField(required=False, default="", max_length=10)
    text = WrittenField(allow_blank=True, help_text="Markdown, at most 64 kB.", max_length=64_000)
    issue = serializers.CharField(
        required=False, allow_null=True, help_text="With one, the text is its comment; without, a description."
    )


class MentionPreview(Resource):
    @operation("See whom a text would call", tag="Comments", body=TextForm, answer=MentionedShape)
    def post(self, *, form: Mapping[str, Any]) -> Mentions:
        """Changes nothing. Whoever is not to be called is named in `without` when the text is sent."""
        scope = scope_of(self.actor, form["company"])
        issue = issue_named(scope, form.get("issue"), "issue")
        if issue is not None:
            preview = preview_wakes(issue=issue, body=form["text"])
            return _answer(preview.woken, preview.members, preview.unknown, preview.ambiguous)
        named = mentioned_in(scope.company, form["text"])
        active = tuple(agent for agent in named.agents if agent.is_active)
        return _answer(active, named.members, named.unknown, named.ambiguous)


def _answer(
    agents: tuple[Agent, ...], members: tuple[Member, ...], unknown: tuple[str, ...], ambiguous: tuple[str, ...]
) -> Mentions:
    wakes = [Named(**refer(agent)) for agent in agents]
    return Mentions(wakes, [Named(**refer(member)) for member in members], unknown, ambiguous)
