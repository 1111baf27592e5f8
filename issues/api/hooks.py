"""Hooks in: how they are set up, and the address at which other programs open issues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request

from issues.actors import Actor
from issues.effects import unit
from issues.keysets import OLDEST_FIRST
from issues.models import Company, Hook
from issues.policies import Right, require
from issues.refusals import Invalid
from issues.rest import once
from issues.rest.bodies import JsonBody
from issues.rest.paging import Page
from issues.rest.problems import BodyTooLarge, Malformed
from issues.rest.references import labels_named, project_named, somebody_named
from issues.rest.scope import Scope, row_in_scope, scope_of
from issues.rest.shapes import Form, PriorityField, Shape, SomebodyField, StampField, WrittenField
from issues.rest.views import Answer, CompanyQuery, Resource, operation
from issues.services.hooks import add_hook, edit_hook, open_by_hook, remove_hook, rotate_token, switch_hook

TAG = "Hooks"
BODY_BYTES = 128 * 1024
"""What may come in at once: far more than an alert says."""

MOST_LEVELS = 50
"""Of lists and objects inside one another."""


class HookShape(Shape):
    """An address that opens issues, without the address."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    priority = PriorityField()
    project = serializers.CharField(source="project.name", allow_null=True)
    labels = serializers.ListField(child=serializers.CharField(), source="label_names")
    assignee = SomebodyField("assignee_agent", "assignee_member", allow_null=True)
    id_field = serializers.CharField(help_text="The field that names what comes in.")
    per_hour = serializers.IntegerField(help_text="Issues in an hour at most.")
    enabled = serializers.BooleanField()
    opened = serializers.IntegerField(help_text="Issues that it has opened.")
    last_used_at = StampField(allow_null=True)
    created_at = StampField()


@dataclass(frozen=True, slots=True)
class FreshHook:
    """A hook with the token of its address."""

    row: Hook
    token: str


class FreshHookShape(HookShape):
    """A hook whose address was just made."""

    token = serializers.CharField(help_text="Shown this once: what to post goes to `/api/hooks/` and this.")

    def to_representation(self, instance: FreshHook) -> dict[str, Any]:
        return HookShape().to_representation(instance.row) | {"token": instance.token}


class OpenedShape(Shape):
    """The issue that was opened."""

    issue = serializers.CharField(source="identifier")


class HookForm(Form):
    """What a hook opens. Title and description hold `{{fields}}` of what comes in."""

    name = serializers.CharField(max_length=120)
    title = serializers.CharField(max_length=300)
    description = WrittenField(required=False, allow_blank=True)
    priority = PriorityField(required=False)
    project = serializers.CharField(required=False, allow_null=True, max_length=120)
    labels = serializers.ListField(child=serializers.CharField(), required=False, max_length=50)
    assignee = serializers.CharField(required=False, allow_null=True, help_text="A handle or a name.")
    id_field = serializers.CharField(required=False, allow_blank=True, max_length=200)
    per_hour = serializers.IntegerField(required=False, min_value=1, max_value=1_000)


class NewHookForm(HookForm):
    company = serializers.CharField(required=False, default="", max_length=10, help_text="Key of the company.")


class ChangedHookForm(HookForm):
    enabled = serializers.BooleanField()


_ANYTHING = dict.fromkeys(("application/json", "application/x-www-form-urlencoded"), OpenApiTypes.OBJECT)


class HookCalls(Resource):
    """Open to whoever has its address. What a browser or a key says besides is not looked at."""

    authentication_classes = []
    permission_classes = []
    parser_classes = [JsonBody, FormParser, MultiPartParser]

    @extend_schema(request=_ANYTHING, auth=[])
    @operation(
        "Open an issue by a hook",
        tag=TAG,
        answer=OpenedShape,
        status=HTTPStatus.CREATED,
        headers={once.HEADER: "A name for this call: sent again under it within thirty days, it opens nothing."},
        secret=True,
    )
    def post(self, *, token: str) -> Answer:
        """Send any JSON, or a form: the hook's template says what becomes of it."""
        key = self.request.headers.get(once.HEADER, "")
        if len(key) > 200 or not key.isascii() or not key.isprintable():
            raise Invalid("An idempotency key has 1 to 200 visible characters.", field=once.HEADER)
        opened = open_by_hook(token=token, data=_what_came(self.request), key=key.strip())
        return Answer(opened, {"Idempotent-Replay": "true"} if opened.again else {})


class Hooks(Resource):
    @operation("List hooks", tag=TAG, query=CompanyQuery, answer=HookShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Hook]:
        """Owners only."""
        company = _owned(self.actor, query["company"])
        return self.page(_ROWS.filter(company=company, removed_at=None), OLDEST_FIRST, query)

    @operation("Add a hook", tag=TAG, body=NewHookForm, answer=FreshHookShape, status=HTTPStatus.CREATED, secret=True)
    def post(self, *, form: Mapping[str, Any]) -> FreshHook:
        """Owners only. Who makes it answers for what it opens."""
        scope = scope_of(self.actor, form["company"])
        require(scope.actor, Right.MANAGE_COMPANY, scope.company)
        hook, token = add_hook(actor=scope.actor, company=scope.company, **_fields(scope, form))
        return FreshHook(hook, token)


class HookItem(Resource):
    @operation("Get a hook", tag=TAG, answer=HookShape)
    def get(self, *, id: int) -> Hook:
        return _hook(self.actor, id)[1]

    @operation("Change a hook", tag=TAG, body=ChangedHookForm, answer=HookShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Hook:
        """Owners only. While it is off it opens nothing."""
        scope, hook = _hook(self.actor, id)
        fields = _fields(scope, form)
        with unit():
            if fields:
                edit_hook(actor=scope.actor, hook=hook, **fields)
            if "enabled" in form:
                switch_hook(actor=scope.actor, hook=hook, on=form["enabled"])
        return _hook(self.actor, id)[1]

    @operation("Remove a hook", tag=TAG)
    def delete(self, *, id: int) -> None:
        """Owners only. What it opened stays."""
        scope, hook = _hook(self.actor, id)
        remove_hook(actor=scope.actor, hook=hook)


class HookToken(Resource):
    @operation("Rotate the token of a hook", tag=TAG, answer=FreshHookShape)
    def post(self, *, id: int) -> FreshHook:
        """A new address; the old one works no longer."""
        scope, hook = _hook(self.actor, id)
        return FreshHook(*rotate_token(actor=scope.actor, hook=hook))


_ROWS = Hook.objects.select_related("company", "project", "assignee_agent", "assignee_member__user").prefetch_related(
    "labels"
)


def _owned(actor: Actor, key: str) -> Company:
    scope = scope_of(actor, key)
    require(scope.actor, Right.MANAGE_COMPANY, scope.company)
    return scope.company


def _hook(actor: Actor, pk: int) -> tuple[Scope, Hook]:
    """NotFound for another company's, and Forbidden for who is no owner of its own."""
    scope, hook = row_in_scope(actor, _ROWS.filter(removed_at=None), pk)
    require(scope.actor, Right.MANAGE_COMPANY, scope.company)
    return scope, hook


def _fields(scope: Scope, form: Mapping[str, Any]) -> dict[str, Any]:
    """What the form says, with what it names looked up."""
    fields = {name: value for name, value in form.items() if name not in ("company", "enabled")}
    if "project" in fields:
        fields["project"] = project_named(scope.company, fields["project"])
    if "labels" in fields:
        fields["labels"] = labels_named(scope.company, fields["labels"], "labels")
    if "assignee" in fields:
        fields["assignee"] = somebody_named(scope, fields["assignee"], "assignee")
    return fields


def _what_came(request: Request) -> Any:
    """The body as plain data: JSON as it is, a form as an object. A field that comes several times is one text with
    commas; files are left out."""
    size = request.META.get("CONTENT_LENGTH") or "0"
    if not size.isdecimal() or int(size) > BODY_BYTES:
        raise BodyTooLarge(f"The body has more than {BODY_BYTES:,} bytes.")
    data = request.data
    if isinstance(data, QueryDict):
        lists = ((name, [value for value in values if isinstance(value, str)]) for name, values in data.lists())
        return {name: ", ".join(values) for name, values in lists if values}
    _check_depth(data)
    return data


def _check_depth(data: Any) -> None:
    """Malformed for more than MOST_LEVELS of lists and objects inside one another."""
    level = [data]
    for _ in range(MOST_LEVELS):
        level = [inner for one in level for inner in _inside(one)]
    if any(isinstance(one, dict | list) for one in level):
        raise Malformed(f"The body has more than {MOST_LEVELS} levels of lists and objects.")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
