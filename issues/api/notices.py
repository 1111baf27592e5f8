"""What the caller has told by e-mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from issues.actors import Actor, Person
from issues.models import Member
from issues.notice_kinds import NOTICE_CHOICES
from issues.refusals import Forbidden
from issues.rest.scope import scope_of
from issues.rest.shapes import Form, Shape
from issues.rest.views import Resource, operation
from issues.services.notices import choose_notices

TAG = "Companies"


class NoticesShape(Shape):
    """What of a company goes to the caller by e-mail, and where to."""

    email = serializers.CharField(help_text="The same in all companies; empty: nothing is sent.")
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=NOTICE_CHOICES))


class NoticesForm(Form):
    email = serializers.CharField(allow_blank=True, max_length=254)
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=NOTICE_CHOICES), max_length=20)


@dataclass(frozen=True, slots=True)
class _Notices:
    email: str
    kinds: list[str]


class CompanyNotices(Resource):
    @operation("Get what is told by e-mail", tag=TAG, answer=NoticesShape)
    def get(self, *, key: str) -> _Notices:
        """The caller's own choice. Only people are sent e-mail."""
        return _shown(_member(self.actor, key))

    @operation("Choose what is told by e-mail", tag=TAG, body=NoticesForm, answer=NoticesShape)
    def patch(self, *, key: str, form: Mapping[str, Any]) -> _Notices:
        """Of this company, to the caller."""
        member = _member(self.actor, key)
        now = _shown(member)
        return _shown(
            choose_notices(
                actor=Person(member.user, member),
                company=member.company,
                email=form.get("email", now.email),
                names=form.get("kinds", now.kinds),
            )
        )


def _member(actor: Actor, key: str) -> Member:
    scope = scope_of(actor, key)
    if not isinstance(scope.actor, Person) or scope.actor.member is None:
        raise Forbidden("Only people are sent e-mail.")
    return scope.actor.member


def _shown(member: Member) -> _Notices:
    return _Notices(member.user.email, list(member.mailed))
