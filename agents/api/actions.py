"""Acting by verbs: what agents write in their replies, as calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.api.runs import ActionShape
from engine.acting import Acted, act
from engine.written import read_list, read_text
from issues.actors import Person, Worker
from issues.refusals import Invalid
from issues.rest.scope import issue_in_scope
from issues.rest.shapes import Form, Shape
from issues.rest.views import Resource, operation

MOST_CHARACTERS = 500_000


class WrittenActionForm(Form):
    """One action by its parts."""

    verb = serializers.CharField(max_length=40)
    args = serializers.CharField(required=False, allow_blank=True, max_length=4_000)
    body = serializers.CharField(required=False, allow_null=True, allow_blank=True, trim_whitespace=False)


_AS_TEXT = {"type": "string", "examples": ["/status in_review", "/note plan\n```\nFirst this.\n```"]}
_BY_PARTS = {
    "type": "object",
    "required": ["verb"],
    "additionalProperties": False,
    "properties": {
        "verb": {"type": "string", "description": "Without the slash."},
        "args": {"type": "string", "description": "What follows it on its line."},
        "body": {"type": ["string", "null"], "description": "What its fenced block would hold."},
    },
}


@extend_schema_field({"oneOf": [_AS_TEXT, _BY_PARTS]})
class WrittenActionField(serializers.Field[Any, Any, Any, Any]):
    """An action as text, or by its parts."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str):
            return data
        reader = WrittenActionForm(data=data)
        reader.is_valid(raise_exception=True)
        return reader.validated_data

    def to_representation(self, value: Any) -> Any:
        return value


class ActionsForm(Form):
    """Either of the two."""

    actions = serializers.ListField(
        child=WrittenActionField(), required=False, min_length=1, max_length=500, help_text="One after the other."
    )
    text = serializers.CharField(
        required=False,
        trim_whitespace=False,
        max_length=MOST_CHARACTERS,
        help_text="As a reply: lines that begin with a verb act, fenced blocks are bodies, the rest is the comment.",
    )


class ActedShape(Shape):
    """What became of the actions."""

    run = serializers.IntegerField(source="run.pk", allow_null=True, help_text="The run that they belong to.")
    comment = serializers.IntegerField(source="comment.pk", allow_null=True, help_text="The text's prose.")
    unsaid = serializers.CharField(help_text="Why the comment was refused, if it was.")
    actions = ActionShape(many=True, help_text="One for each, in their order.")


class IssueActions(Resource):
    @operation("Act on an issue", tag="Actions", body=ActionsForm, answer=ActedShape, kept=True)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Acted:
        """Each action is carried out by itself, wholly or not at all: one that is refused does not keep the others from
        being done. Its `outcome` says what became of it: `applied`; `denied` by policy, cap or permission; `failed`
        because of a value or the state of things; `approval` while it waits for the board. Something that is no action
        refuses the whole call (422), and nothing is done.

        A person acts with the rights of their role. An agent acts in the run of its key or checkout, and within that
        run's caps; without either the call is a run of its own, refused (409) while somebody else holds the issue.
        """
        scope, issue = issue_in_scope(self.actor, identifier)
        if ("text" in form) == ("actions" in form):
            raise Invalid("Send either `actions` or `text`.", field="actions")
        reply = read_text(form["text"]) if "text" in form else read_list(form["actions"])
        return act(actor=cast("Person | Worker", scope.actor), issue=issue, reply=reply)
