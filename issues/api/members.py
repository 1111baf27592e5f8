"""Who belongs to a company, and as what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from rest_framework import serializers

from issues.keysets import OLDEST_FIRST
from issues.models import Member, Role
from issues.rest.paging import Page
from issues.rest.scope import row_in_scope, scope_of
from issues.rest.shapes import Form, Shape, StampField
from issues.rest.views import CompanyQuery, Resource, operation
from issues.services.companies import change_role, remove_member
from issues.services.invitations import invite_member

TAG = "Companies"


class MemberShape(Shape):
    """A person in a company."""

    id = serializers.IntegerField()
    handle = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    joined_at = StampField()


@dataclass(frozen=True, slots=True)
class Invited:
    """Somebody who was made a member, and the address that lets a new account in."""

    member: Member
    login_link: str | None


class InvitedShape(MemberShape):
    """Somebody who was made a member."""

    login_link = serializers.CharField(
        allow_null=True, help_text="Lets a new account in, once, within 12 hours; shown this once. Null: it is not new."
    )

    def to_representation(self, instance: Invited) -> dict[str, Any]:
        return MemberShape().to_representation(instance.member) | {"login_link": instance.login_link}


class NewMemberForm(Form):
    company = serializers.CharField(required=False, default="", max_length=10)
    username = serializers.CharField(max_length=150, help_text="Of an account; it is made if there is none.")
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)
    role = serializers.ChoiceField(choices=Role.choices)


class RoleForm(Form):
    role = serializers.ChoiceField(choices=Role.choices)


class Members(Resource):
    @operation("List members", tag=TAG, query=CompanyQuery, answer=MemberShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Member]:
        """The people in a company now."""
        return self.page(_rows().filter(company=scope_of(self.actor, query["company"]).company), OLDEST_FIRST, query)

    @operation("Add a member", tag=TAG, body=NewMemberForm, answer=InvitedShape, status=HTTPStatus.CREATED, secret=True)
    def post(self, *, form: Mapping[str, Any]) -> Invited:
        """Owners only. Somebody who was removed comes back under the old handle."""
        scope = scope_of(self.actor, form["company"])
        invited = invite_member(
            actor=scope.actor,
            company=scope.company,
            username=form["username"],
            name=form["name"],
            role=Role(form["role"]),
        )
        return Invited(invited.member, self._address(invited.token) if invited.token else None)

    def _address(self, token: str) -> str:
        return self.request.build_absolute_uri(reverse("log-in-by-link", args=[token]))


class MemberItem(Resource):
    @operation("Get a member", tag=TAG, answer=MemberShape)
    def get(self, *, id: int) -> Member:
        return row_in_scope(self.actor, _rows(), id)[1]

    @operation("Change the role of a member", tag=TAG, body=RoleForm, answer=MemberShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Member:
        """Owners only; one owner stays."""
        scope, member = row_in_scope(self.actor, _rows(), id)
        return change_role(actor=scope.actor, member=member, role=Role(form["role"])) if form else member

    @operation("Remove a member", tag=TAG)
    def delete(self, *, id: int) -> None:
        """Owners only; one owner stays. Sessions, streams and keys of theirs open nothing of the company any more."""
        scope, member = row_in_scope(self.actor, _rows(), id)
        remove_member(actor=scope.actor, member=member)


def _rows() -> QuerySet[Member]:
    return Member.objects.present().select_related("company", "user")
