"""Who the caller is."""

from __future__ import annotations

from dataclasses import dataclass

from rest_framework import serializers

from issues.actors import Person, Worker
from issues.models import Member, Role
from issues.refusals import NotFound
from issues.rest.shapes import Shape
from issues.rest.views import Resource, operation


@dataclass(frozen=True, slots=True)
class Place:
    """A company that the caller is in."""

    company: str
    handle: str
    role: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls."""

    kind: str
    name: str
    places: tuple[Place, ...]
    issue: str | None = None


class PlaceShape(Shape):
    """A company that the caller is in, and as what."""

    company = serializers.CharField(help_text="Its key.")
    handle = serializers.CharField()
    role = serializers.ChoiceField(choices=[*Role.values, "agent"])


class CallerShape(Shape):
    """Who calls."""

    kind = serializers.ChoiceField(choices=["person", "agent"])
    name = serializers.CharField()
    places = PlaceShape(many=True)
    issue = serializers.CharField(allow_null=True, help_text="What an agent holds or runs on.")


class Me(Resource):
    @operation("Get the caller", tag="Health", answer=CallerShape)
    def get(self) -> Caller:
        """Whoever the key or session is of."""
        actor = self.actor
        if isinstance(actor, Worker):
            place = Place(actor.agent.company.key, actor.agent.handle, "agent")
            at_hand = actor.home.identifier if actor.home is not None else None
            return Caller("agent", actor.agent.name, (place,), at_hand)
        if not isinstance(actor, Person):
            raise NotFound("There is no caller.")
        memberships = Member.objects.present().filter(user=actor.user).select_related("company").order_by("pk")
        places = tuple(Place(member.company.key, member.handle, member.role) for member in memberships)
        return Caller("person", str(actor.user), places)
