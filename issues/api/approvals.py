"""Questions to the board, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from engine.acting import do_as_verbs
from issues.actors import Actor, Worker
from issues.keysets import NEWEST_FIRST
from issues.models import Approval, ApprovalKind, ApprovalStatus
from issues.rest.paging import Page
from issues.rest.references import issue_named
from issues.rest.scope import issue_in_scope, row_in_scope, scope_of
from issues.rest.shapes import CommaField, Form, Shape, SomebodyField, StampField, WrittenField, texts_of
from issues.rest.views import CompanyQuery, Resource, operation
from issues.services.approvals import DECISIONS, ask_question, decide_approval, request_approval

TAG = "Approvals"


class ApprovalRowShape(Shape):
    """A question to the board."""

    id = serializers.IntegerField()
    issue = serializers.CharField(source="issue.identifier")
    kind = serializers.ChoiceField(choices=ApprovalKind.choices)
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=ApprovalStatus.choices)
    requested_by = SomebodyField("requested_by_agent", "requested_by_member")
    created_at = StampField()
    decided_at = StampField(allow_null=True)


class ApprovalShape(ApprovalRowShape):
    """A question with all that it is about."""

    explanation = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField(), help_text="Of a question; another answer may do.")
    payload = serializers.JSONField(help_text="The exact action that a yes carries out.")
    payload_hash = serializers.CharField(help_text="Binds the decision to what was shown.")
    run = serializers.IntegerField(source="run_id", allow_null=True)
    decided_by = SomebodyField("decided_by", allow_null=True)
    note = serializers.CharField(help_text="The decision's note, or the answer.")
    failure = serializers.CharField(help_text="Why the approved action could not be carried out.")


class ApprovalQuery(CompanyQuery):
    status = CommaField(child=serializers.ChoiceField(choices=ApprovalStatus.choices), required=False)
    kind = CommaField(child=serializers.ChoiceField(choices=ApprovalKind.choices), required=False)
    issue = serializers.CharField(required=False, help_text="An identifier.")


class RequestForm(Form):
    title = serializers.CharField(max_length=300)
    explanation = WrittenField(required=False, allow_blank=True)


class QuestionForm(Form):
    question = serializers.CharField(max_length=300)
    choices = serializers.ListField(child=serializers.CharField(max_length=200), required=False, max_length=20)


class DecisionForm(Form):
    status = serializers.ChoiceField(
        choices=sorted(set().union(*DECISIONS.values())),
        help_text="`answered` for a question, one of the others for a request or action.",
    )
    note = WrittenField(required=False, allow_blank=True, help_text="Why; or the answer to a question.")
    payload_hash = serializers.CharField(
        required=False,
        max_length=64,
        help_text="As it was shown; refused if the payload is another by now. Approving an action needs it.",
    )
    always = serializers.BooleanField(
        default=False, help_text="With `approved` of an action: the agent does the like from now on without asking."
    )


class Approvals(Resource):
    @operation("List approvals", tag=TAG, query=ApprovalQuery, answer=ApprovalRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Approval]:
        """The newest first. An agent is shown those it asked for."""
        scope = scope_of(self.actor, query["company"])
        rows = _visible(scope.actor).filter(company=scope.company)
        if "status" in query:
            rows = rows.filter(status__in=query["status"])
        if "kind" in query:
            rows = rows.filter(kind__in=query["kind"])
        if "issue" in query:
            rows = rows.filter(issue=issue_named(scope, query["issue"], "issue"))
        return self.page(rows, NEWEST_FIRST, query)


class ApprovalItem(Resource):
    @operation("Get an approval", tag=TAG, answer=ApprovalShape)
    def get(self, *, id: int) -> Approval:
        return row_in_scope(self.actor, _visible(self.actor), id)[1]


class ApprovalDecision(Resource):
    @operation("Decide an approval", tag=TAG, body=DecisionForm, answer=ApprovalShape)
    def post(self, *, id: int, form: Mapping[str, Any]) -> Approval:
        """Once: of two who decide at the same time one is told what the other decided. An approved action is carried
        out by this; the one who asked is woken."""
        scope, approval = row_in_scope(self.actor, _visible(self.actor), id)
        carries_out = approval.kind == ApprovalKind.ACTION and form["status"] == ApprovalStatus.APPROVED
        return decide_approval(
            actor=scope.actor,
            approval=approval,
            status=ApprovalStatus(form["status"]),
            note=form.get("note", ""),
            shown_hash=form.get("payload_hash", "" if carries_out else None),
            always=form["always"],
        )


class IssueRequests(Resource):
    @operation("Request an approval", tag=TAG, body=RequestForm, answer=ApprovalShape, status=HTTPStatus.CREATED)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Approval:
        """Ask the board for a yes before something is done."""
        scope, issue = issue_in_scope(self.actor, identifier)
        return do_as_verbs(
            scope.actor,
            issue,
            [("request-approval", form["title"])],
            lambda actor: request_approval(actor=actor, issue=issue, **form),
        )


class IssueQuestions(Resource):
    @operation("Ask a question", tag=TAG, body=QuestionForm, answer=ApprovalShape, status=HTTPStatus.CREATED)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Approval:
        """Ask the issue's responsible person for a fact or a decision."""
        scope, issue = issue_in_scope(self.actor, identifier)
        return do_as_verbs(
            scope.actor,
            issue,
            [("ask", form["question"])],
            lambda actor: ask_question(actor=actor, issue=issue, **form),
        )


def _visible(actor: Actor) -> QuerySet[Approval]:
    """What the actor is shown: an agent only what it asked for itself."""
    rows = Approval.objects.select_related(
        "company", "issue__company", "requested_by_agent", "requested_by_member__user", "decided_by__user"
    ).defer(*texts_of("requested_by_agent"))
    return rows.filter(requested_by_agent=actor.agent) if isinstance(actor, Worker) else rows
