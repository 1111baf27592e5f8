"""What happened on an issue: activity, findings, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from engine.acting import do_as_verbs
from issues.api.issue_shapes import IssueShape, issue_whole
from issues.keysets import NEWEST_FIRST, OLDEST_FIRST
from issues.models import Activity, ActorKind, Finding, Issue, Verdict
from issues.rest.paging import Page
from issues.rest.references import agent_named, everybody_named
from issues.rest.scope import issue_in_scope, row_in_scope, scope_of
from issues.rest.shapes import Form, Shape, SomebodyField, StampField, WrittenField, texts_of
from issues.rest.views import CompanyQuery, PageQuery, Resource, WideQuery, operation
from issues.services.reviews import give_verdict, set_reviewers

TAG = "History and reviews"
_FINDINGS = Finding.objects.select_related("agent", "issue__company").defer(*texts_of("agent"), "issue__description")
_LINES = Activity.objects.select_related("member__user", "agent", "issue__company").defer(
    *texts_of("agent"), "issue__description"
)


class ActivityShape(Shape):
    """One line of what changed."""

    id = serializers.IntegerField()
    issue = serializers.CharField(source="issue.identifier", allow_null=True)
    kind = serializers.CharField(help_text="`issue.status`, `comment.written`, ...")
    actor_kind = serializers.ChoiceField(choices=ActorKind.choices)
    actor = SomebodyField("member", "agent", allow_null=True, help_text="Null for Trimus itself.")
    run = serializers.IntegerField(source="run_id", allow_null=True)
    data = serializers.JSONField()  # type: ignore[assignment] # a field, which the framework takes off the class
    created_at = StampField()


class FindingShape(Shape):
    """What an agent recorded as worth keeping."""

    id = serializers.IntegerField()
    issue = serializers.CharField(source="issue.identifier")
    agent = SomebodyField("agent")
    title = serializers.CharField()
    body = serializers.CharField()
    run = serializers.IntegerField(source="run_id", allow_null=True)
    created_at = StampField()


class VerdictForm(Form):
    verdict = serializers.ChoiceField(choices=[Verdict.ACCEPT.value, Verdict.SEND_BACK.value])
    note = WrittenField(required=False, allow_blank=True)


class ReviewersForm(Form):
    reviewers = serializers.ListField(
        child=serializers.CharField(), max_length=50, help_text="Handles or names, or `me`; none for nobody."
    )


class CompanyActivity(Resource):
    @operation("List activity", tag=TAG, query=CompanyQuery, answer=ActivityShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Activity]:
        """Everything that changed in a company, the newest first."""
        scope = scope_of(self.actor, query["company"])
        return self.page(_LINES.filter(company=scope.company), NEWEST_FIRST, query)


class IssueActivity(Resource):
    @operation("List the activity of an issue", tag=TAG, query=PageQuery, answer=ActivityShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Activity]:
        """The oldest first."""
        _, issue = issue_in_scope(self.actor, identifier)
        return self.page(_LINES.filter(issue=issue), OLDEST_FIRST, query)


class FindingQuery(WideQuery, CompanyQuery):
    agent = serializers.CharField(required=False, help_text="The handle of who recorded it.")


class CompanyFindings(Resource):
    @operation("List findings", tag=TAG, query=FindingQuery, answer=FindingShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Finding]:
        """What the agents of a company recorded, the newest first."""
        scope = scope_of(self.actor, query["company"])
        rows = _FINDINGS.filter(issue__company=scope.company)
        if "agent" in query:
            rows = rows.filter(agent=agent_named(scope, query["agent"], "agent"))
        return self.page(rows, NEWEST_FIRST, query)


class FindingItem(Resource):
    @operation("Get a finding", tag=TAG, answer=FindingShape)
    def get(self, *, id: int) -> Finding:
        return row_in_scope(self.actor, _FINDINGS, id)[1]


class IssueFindings(Resource):
    @operation("List the findings of an issue", tag=TAG, query=WideQuery, answer=FindingShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Finding]:
        _, issue = issue_in_scope(self.actor, identifier)
        return self.page(_FINDINGS.filter(issue=issue), OLDEST_FIRST, query)


class IssueReviewers(Resource):
    @operation("Name the reviewers of an issue", tag=TAG, body=ReviewersForm, answer=IssueShape)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Issue:
        """Exactly these: verdicts of those who stay are kept. In review, those who are new are called at once."""
        scope, issue = issue_in_scope(self.actor, identifier)
        reviewers = everybody_named(scope, form["reviewers"], "reviewers")
        set_reviewers(actor=scope.actor, issue=issue, reviewers=reviewers)
        return issue_whole(scope, identifier)


class IssueVerdict(Resource):
    @operation("Judge an issue", tag=TAG, body=VerdictForm, answer=IssueShape)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Issue:
        """A reviewer's verdict on an issue in review: the last accept sets it done, send-back returns it to work."""
        scope, issue = issue_in_scope(self.actor, identifier)
        verdict, note = Verdict(form["verdict"]), form.get("note", "")
        do_as_verbs(
            scope.actor,
            issue,
            [("review", verdict.value)],
            lambda actor: give_verdict(actor=actor, issue=issue, verdict=verdict, note=note),
        )
        return issue_whole(scope, identifier)
