"""Wakeups: why an agent shall look at an issue, and what became of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from agents.api.queries import WorkQuery, selected
from agents.models import Wakeup, WakeupSource, WakeupState
from issues.actors import Actor, Worker
from issues.keysets import NEWEST_FIRST
from issues.rest.paging import Page
from issues.rest.scope import issue_in_scope, row_in_scope, scope_of
from issues.rest.shapes import CommaField, Shape, SomebodyField, StampField, texts_of
from issues.rest.views import PageQuery, Resource, operation

TAG = "Wakeups"


class WakeupShape(Shape):
    """ "Look at this once", with its story."""

    id = serializers.IntegerField()
    agent = serializers.CharField(source="agent.handle")
    issue = serializers.CharField(source="issue.identifier")
    source = serializers.ChoiceField(choices=WakeupSource.choices)  # type: ignore[assignment] # a field, which the framework takes off the class
    reason = serializers.CharField()
    note = serializers.CharField()
    state = serializers.ChoiceField(choices=WakeupState.choices)
    asked_by = SomebodyField("member", "by_agent", allow_null=True, help_text="Null for Trimus itself.")
    joined = serializers.IntegerField(help_text="Equal requests that joined it.")
    depth = serializers.IntegerField(help_text="Agents that woke one another since a person began.")
    waiting_because = serializers.CharField()
    ended_because = serializers.CharField()
    run = serializers.IntegerField(source="run_id", allow_null=True, help_text="The run that delivers it.")
    created_at = StampField()
    due_at = StampField(help_text="Not started before.")
    claimed_at = StampField(allow_null=True)
    ended_at = StampField(allow_null=True)


class WakeupQuery(WorkQuery):
    state = CommaField(child=serializers.ChoiceField(choices=WakeupState.choices), required=False)


class Wakeups(Resource):
    @operation("List wakeups", tag=TAG, query=WakeupQuery, answer=WakeupShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Wakeup]:
        """The newest first. An agent is shown its own."""
        scope = scope_of(self.actor, query["company"])
        return self.page(selected(_visible(scope.actor), scope, query), NEWEST_FIRST, query)


class WakeupItem(Resource):
    @operation("Get a wakeup", tag=TAG, answer=WakeupShape)
    def get(self, *, id: int) -> Wakeup:
        return row_in_scope(self.actor, _visible(self.actor), id)[1]


class IssueWakeups(Resource):
    @operation("List the wakeups of an issue", tag=TAG, query=PageQuery, answer=WakeupShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Wakeup]:
        scope, issue = issue_in_scope(self.actor, identifier)
        return self.page(_visible(scope.actor).filter(issue=issue), NEWEST_FIRST, query)


def _visible(actor: Actor) -> QuerySet[Wakeup]:
    rows = Wakeup.objects.select_related("company", "issue__company", "agent", "member__user", "by_agent").defer(
        *texts_of("agent", "by_agent"), "issue__description"
    )
    return rows.filter(agent=actor.agent) if isinstance(actor, Worker) else rows
