"""API keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.db.models import Q, QuerySet
from rest_framework import serializers

from issues.actors import Person
from issues.keysets import NEWEST_FIRST
from issues.models import ApiKey, KeyScope, Member, Role
from issues.refusals import Forbidden, NotFound
from issues.rest.paging import Page
from issues.rest.references import agent_named
from issues.rest.scope import first, scope_of
from issues.rest.shapes import Form, Shape, StampField
from issues.rest.views import PageQuery, Resource, operation
from issues.services.keys import create_agent_key, create_user_key, revoke_key

TAG = "Keys"


class KeyShape(Shape):
    """A key, without the key."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="How it begins, after `trm_`.")
    company = serializers.CharField(source="company.key", allow_null=True, help_text="Of an agent's key.")
    agent = serializers.CharField(source="agent.handle", allow_null=True, help_text="Null for a person's own key.")
    scope = serializers.ChoiceField(choices=KeyScope.choices, help_text="With `read` it changes nothing.")
    created_at = StampField()
    expires_at = StampField(allow_null=True)
    last_used_at = StampField(allow_null=True, help_text="To the minute.")
    revoked_at = StampField(allow_null=True)


@dataclass(frozen=True, slots=True)
class FreshKey:
    """A key just made, with its text."""

    row: ApiKey
    text: str


class FreshKeyShape(KeyShape):
    """A key just made."""

    key = serializers.CharField(help_text="Shown this once: only its hash is kept.")

    def to_representation(self, instance: FreshKey) -> dict[str, Any]:
        return KeyShape().to_representation(instance.row) | {"key": instance.text}


class NewKeyForm(Form):
    name = serializers.CharField(required=False, allow_blank=True, max_length=120)
    company = serializers.CharField(required=False, default="", max_length=10, help_text="Of the agent.")
    agent = serializers.CharField(required=False, help_text="A handle. Without, the key is the caller's own.")
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    scope = serializers.ChoiceField(
        choices=KeyScope.choices, default=KeyScope.WRITE, help_text="With `read` it changes nothing."
    )


class Keys(Resource):
    @operation("List keys", tag=TAG, query=PageQuery, answer=KeyShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[ApiKey]:
        """The caller's own, and those of the agents of companies that they own."""
        return self.page(_visible(_person(self)), NEWEST_FIRST, query)

    @operation("Create a key", tag=TAG, body=NewKeyForm, answer=FreshKeyShape, status=HTTPStatus.CREATED, secret=True)
    def post(self, *, form: Mapping[str, Any]) -> FreshKey:
        """A key of the caller; or, by an owner, of an agent that works outside of Trimus."""
        person = _person(self)
        options = {
            "name": form.get("name", ""),
            "expires_at": form.get("expires_at"),
            "scope": KeyScope(form["scope"]),
        }
        if "agent" not in form:
            return FreshKey(*create_user_key(actor=person, user=person.user, **options))
        scope = scope_of(person, form["company"])
        agent = agent_named(scope, form["agent"], "agent")
        return FreshKey(*create_agent_key(actor=scope.actor, agent=agent, **options))


class KeyItem(Resource):
    @operation("Get a key", tag=TAG, answer=KeyShape)
    def get(self, *, id: int) -> ApiKey:
        """What is known of it: its text is kept nowhere."""
        return _find(_person(self), id)

    @operation("Revoke a key", tag=TAG)
    def delete(self, *, id: int) -> None:
        """It works no longer."""
        person = _person(self)
        revoke_key(actor=person, key=_find(person, id))


def _person(resource: Resource) -> Person:
    if not isinstance(resource.actor, Person):
        raise Forbidden("Agents have nothing to do with keys.")
    return resource.actor


def _find(person: Person, pk: int) -> ApiKey:
    key = first(_visible(person).filter(pk=pk))
    if key is None:
        raise NotFound(f"There is no key {pk}.")
    return key


def _visible(person: Person) -> QuerySet[ApiKey]:
    owned = Member.objects.present().filter(user=person.user, role=Role.OWNER).values("company_id")
    return ApiKey.objects.select_related("company", "agent", "user").filter(
        Q(user=person.user) | Q(company__in=owned, run=None)
    )
