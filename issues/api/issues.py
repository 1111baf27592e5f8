"""Issues: opening, reading, finding, changing, deleting."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from rest_framework import serializers
from rest_framework.response import Response

from engine.acting import do_as_verbs
from issues.api.issue_queries import ORDERS, IssueQuery, filtered
from issues.api.issue_shapes import IssueRowShape, IssueShape, as_whole, etag, issue_rows, issue_whole
from issues.models import Issue, Priority, Status
from issues.refusals import Stale
from issues.rest.paging import Page
from issues.rest.problems import Malformed, refused
from issues.rest.references import (
    handles_named,
    issue_named,
    issues_named,
    labels_named,
    member_named,
    project_named,
    somebody_named,
)
from issues.rest.scope import Scope, issue_in_scope, scope_of, scope_of_issue
from issues.rest.shapes import Form, PriorityField, WrittenField
from issues.rest.views import Answer, CompanyQuery, PageQuery, Resource, operation
from issues.search import matching
from issues.services.changes import change_issue
from issues.services.issues import create_issue, delete_issue

TAG = "Issues"
_VERBS = {"status": "status", "priority": "priority", "assignee": "assign", "labels": "label"}
"""What a field is set by where an agent writes verbs."""

_ETAG = re.compile(r'(?:W/)?"([0-9]{1,9})"')


class SearchQuery(CompanyQuery):
    q = serializers.CharField(max_length=200, help_text="`12`, `ACME-12`, or words of title, description or a comment.")


class IssueForm(Form):
    """What can be said of an issue."""

    title = serializers.CharField(max_length=300)
    description = WrittenField(allow_blank=True, required=False, help_text="Markdown, at most 64 kB.")
    status = serializers.ChoiceField(choices=Status.choices, required=False)
    priority = PriorityField(required=False)
    assignee = serializers.CharField(allow_null=True, required=False, help_text="A handle or name, `me`, or `none`.")
    responsible = serializers.CharField(required=False, help_text="The member who answers for it.")
    project = serializers.CharField(allow_null=True, required=False, help_text="The name of a project.")
    labels = serializers.ListField(
        child=serializers.CharField(), required=False, max_length=50, help_text="All labels it has afterwards."
    )
    parent = serializers.CharField(  # type: ignore[assignment] # a field, which the framework takes off the class
        allow_null=True, required=False, help_text="An identifier."
    )
    due_date = serializers.DateField(allow_null=True, required=False)
    without = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        max_length=50,
        help_text="Handles that the description names and that are not to be called.",
    )


class NewIssueForm(IssueForm):
    """An issue to open."""

    company = serializers.CharField(required=False, default="", max_length=10, help_text="Key of the company.")
    blockers = serializers.ListField(
        child=serializers.CharField(), required=False, max_length=50, help_text="Identifiers of what it waits for."
    )


class Issues(Resource):
    @operation("List issues", tag=TAG, query=IssueQuery, answer=IssueRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Issue]:
        """Issues of a company that fit all that is asked for."""
        scope = scope_of(self.actor, query["company"])
        return self.page(filtered(scope, query), ORDERS[query["order"]], query)

    @operation("Open an issue", tag=TAG, body=NewIssueForm, answer=IssueShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> Answer:
        """It gets the next number. Its agent is woken when it is in todo or in progress; so are agents it mentions."""
        scope = scope_of(self.actor, form["company"])
        fields = _resolved(scope, form)
        issue = do_as_verbs(
            scope.actor,
            fields.get("parent"),
            [("create-issue", form["title"])],
            lambda actor: create_issue(actor=actor, company=scope.company, **fields),
        )
        issue = as_whole(issue, labels=fields.get("labels", ()), blockers=fields.get("blockers", ()))
        return Answer(issue, headers={"ETag": etag(issue)})


class Search(Resource):
    @operation("Search issues", tag=TAG, query=SearchQuery, answer=IssueRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Issue]:
        """Issues with that number, or with all the words in one of their texts; the last changed first. Of
        words that stand in thousands of texts, the newest 5,000 issues and 5,000 comments are looked at."""
        scope = scope_of(self.actor, query["company"])
        return self.page(matching(issue_rows(scope.company), scope.company, query["q"]), ORDERS["updated"], query)


class IssueItem(Resource):
    @operation("Get an issue", tag=TAG, answer=IssueShape)
    def get(self, *, identifier: str) -> Answer:
        """With an ETag for a later change."""
        scope = scope_of_issue(self.actor, identifier)
        return _answer(scope, identifier)

    @operation(
        "Change an issue",
        tag=TAG,
        body=IssueForm,
        answer=IssueShape,
        headers={"If-Match": "The ETag at which it was read; the change is refused (412) if it is another by now."},
    )
    def patch(self, *, identifier: str, form: Mapping[str, Any]) -> Answer | Response:
        """Change what is given, all or nothing. A stale write is answered with the issue as it is now (`current`)."""
        scope, issue = issue_in_scope(self.actor, identifier)
        fields = _resolved(scope, form)
        version = self._if_match()
        try:
            do_as_verbs(
                scope.actor,
                issue,
                [(verb, f"{_written(form[field])} on {identifier}") for field, verb in _VERBS.items() if field in form],
                lambda actor: change_issue(actor=actor, issue=issue, if_version=version, **fields),
            )
        except Stale as stale:
            return _with_current(stale, issue_whole(scope, identifier))
        return _answer(scope, identifier)

    @operation("Delete an issue", tag=TAG)
    def delete(self, *, identifier: str) -> None:
        """With its comments and files; its activity stays. Refused while a run is at work on it."""
        scope, issue = issue_in_scope(self.actor, identifier)
        delete_issue(actor=scope.actor, issue=issue)

    def _if_match(self) -> int | None:
        header = self.request.headers.get("If-Match", "").strip()
        if header in ("", "*"):
            return None
        match = _ETAG.fullmatch(header)
        if match is None:
            raise Malformed("If-Match is not an ETag of an issue.")
        return int(match[1])


class Children(Resource):
    @operation("List children", tag=TAG, query=PageQuery, answer=IssueRowShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Issue]:
        """The issues directly under this one."""
        scope, issue = issue_in_scope(self.actor, identifier)
        return self.page(issue_rows(scope.company).filter(parent=issue), ORDERS["work"], query)


def _answer(scope: Scope, identifier: str) -> Answer:
    issue = issue_whole(scope, identifier)
    return Answer(issue, headers={"ETag": etag(issue)})


def _with_current(stale: Stale, issue: Issue) -> Response:
    answer = refused(stale, current=IssueShape().to_representation(issue))
    answer["ETag"] = etag(issue)
    return answer


def _written(value: Any) -> str:
    """The value of a field as an agent would write it behind the verb."""
    if isinstance(value, Priority):
        return value.slug
    return ", ".join(value) if isinstance(value, list) else "none" if value is None else str(value)


def _resolved(scope: Scope, form: Mapping[str, Any]) -> dict[str, Any]:
    """The form with what its words name in place of the words."""
    resolve: dict[str, Callable[[Any], Any]] = {
        "status": Status,
        "assignee": lambda word: somebody_named(scope, word, "assignee"),
        "responsible": lambda word: member_named(scope, word, "responsible"),
        "project": lambda name: project_named(scope.company, name),
        "labels": lambda names: labels_named(scope.company, names, "labels"),
        "without": handles_named,
        "parent": lambda identifier: issue_named(scope, identifier, "parent"),
        "blockers": lambda identifiers: issues_named(scope, identifiers, "blockers"),
    }
    return {
        field: resolve[field](value) if field in resolve else value
        for field, value in form.items()
        if field != "company"
    }
