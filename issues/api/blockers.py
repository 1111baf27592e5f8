"""What an issue waits for."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from rest_framework import serializers

from engine.acting import do_as_verbs
from issues.api.issue_shapes import IssueLinkShape, links
from issues.keysets import Order
from issues.models import Issue
from issues.rest.paging import Page
from issues.rest.references import issues_named
from issues.rest.scope import issue_in_scope
from issues.rest.shapes import Form
from issues.rest.views import PageQuery, Resource, operation
from issues.services.blockers import add_blockers, remove_blockers

TAG = "Issues"
_BY_NUMBER = Order(("number",))


class BlockersForm(Form):
    blockers = serializers.ListField(
        child=serializers.CharField(), min_length=1, max_length=50, help_text="Identifiers."
    )


class Blockers(Resource):
    @operation("List blockers", tag=TAG, query=PageQuery, answer=IssueLinkShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Issue]:
        """What the issue waits for; those that are closed stay as history."""
        _, issue = issue_in_scope(self.actor, identifier)
        return self.page(links(Issue.objects.filter(blocks=issue)), _BY_NUMBER, query)

    @operation("Add blockers", tag=TAG, body=BlockersForm, answer=IssueLinkShape, status=HTTPStatus.CREATED)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Issue:
        """The issue waits for them; an open one moves it to blocked. Answers the issue."""
        scope, issue = issue_in_scope(self.actor, identifier)
        blockers = issues_named(scope, form["blockers"], "blockers")
        return do_as_verbs(
            scope.actor,
            issue,
            [("blocked-by", ", ".join(form["blockers"]))],
            lambda actor: add_blockers(actor=actor, issue=issue, blockers=blockers),
        )


class BlockerItem(Resource):
    @operation("Remove a blocker", tag=TAG)
    def delete(self, *, identifier: str, blocker: str) -> None:
        """When none is left open, the issue moves to todo."""
        scope, issue = issue_in_scope(self.actor, identifier)
        ended = scope.issue(blocker)
        do_as_verbs(
            scope.actor,
            issue,
            [("unblock", blocker)],
            lambda actor: remove_blockers(actor=actor, issue=issue, blockers=[ended]),
        )
