"""Taking an issue for an agent that works outside of Trimus, giving it back, and waking an agent on it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from rest_framework import serializers

from agents.api.wakeups import WakeupShape
from agents.models import Run, Wakeup
from agents.services.runs import check_out, release
from agents.services.wakeups import run_heartbeat
from issues.refusals import Invalid, NotFound
from issues.rest.references import agent_named
from issues.rest.scope import issue_in_scope
from issues.rest.shapes import Form, Shape, StampField
from issues.rest.views import Resource, operation

TAG = "Checkouts"


class CheckoutShape(Shape):
    """Who holds an issue. One at a time; everybody else is refused (409) with this."""

    run = serializers.IntegerField(source="id")
    issue = serializers.CharField(source="issue.identifier")
    holder = serializers.CharField(source="agent.handle")
    adapter = serializers.CharField(help_text="`external` for an agent that works elsewhere.")
    since = StampField(source="created_at")
    until = StampField(source="deadline_at", help_text="Any call with the agent's key puts this off.")


class CheckoutForm(Form):
    agent = serializers.CharField(required=False, help_text="A handle; a person names whom it is for.")


class NudgeForm(Form):
    agent = serializers.CharField(required=False, help_text="A handle; the assignee unless given.")
    note = serializers.CharField(required=False, allow_blank=True, help_text="Said in the prompt.")


class IssueCheckout(Resource):
    @operation("Get the checkout of an issue", tag=TAG, answer=CheckoutShape)
    def get(self, *, identifier: str) -> Run:
        """404 while nobody holds it."""
        _, issue = issue_in_scope(self.actor, identifier)
        run = issue.runs.live().select_related("agent", "issue__company").first()
        if run is None:
            raise NotFound(f"Nobody holds {issue.identifier}.")
        return run

    @operation("Check out an issue", tag=TAG, body=CheckoutForm, answer=CheckoutShape, status=HTTPStatus.CREATED)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Run:
        """An agent takes it for itself, a person for an agent. 409 names the `holder` and `since` when."""
        scope, issue = issue_in_scope(self.actor, identifier)
        agent = agent_named(scope, form["agent"], "agent") if "agent" in form else None
        return check_out(actor=scope.actor, issue=issue, agent=agent)


class IssueRelease(Resource):
    @operation("Release an issue", tag=TAG, answer=CheckoutShape)
    def post(self, *, identifier: str) -> Run:
        """The holder gives it back; a person breaks the checkout, which cancels its run."""
        scope, issue = issue_in_scope(self.actor, identifier)
        return release(actor=scope.actor, issue=issue)


class IssueHeartbeat(Resource):
    @operation("Run a heartbeat", tag=TAG, body=NudgeForm, answer=WakeupShape, status=HTTPStatus.ACCEPTED)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Wakeup:
        """Let an agent look at the issue now, also at a closed one."""
        scope, issue = issue_in_scope(self.actor, identifier)
        agent = agent_named(scope, form["agent"], "agent") if "agent" in form else issue.assignee_agent
        if agent is None:
            raise Invalid("The issue has no agent.", "Name one.", field="agent")
        return run_heartbeat(actor=scope.actor, agent=agent, issue=issue, note=form.get("note", ""))
