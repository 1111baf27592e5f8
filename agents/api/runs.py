"""Runs: what an agent saw, said, changed and cost."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.api.queries import WorkQuery, selected
from agents.api.wakeups import WakeupShape
from agents.failures import explain_failure
from agents.models import ActionOutcome, DryRun, DryRunState, Run, RunOutput, RunState, Wakeup
from agents.services.dry_runs import ask_for_dry_run
from agents.services.runs import cancel_run, retry_run
from issues.actors import Actor, Worker
from issues.keysets import NEWEST_FIRST
from issues.rest.paging import Page
from issues.rest.scope import issue_in_scope, row_in_scope, scope_of
from issues.rest.shapes import CommaField, Shape, SomebodyField, StampField, texts_of
from issues.rest.views import PageQuery, Resource, operation

TAG = "Runs"


class RunRowShape(Shape):
    """A run, as lists have it."""

    id = serializers.IntegerField()
    agent = serializers.CharField(source="agent.handle")
    issue = serializers.CharField(source="issue.identifier", allow_null=True, help_text="Null once it was deleted.")
    state = serializers.ChoiceField(choices=RunState.choices)
    adapter = serializers.CharField()
    provider = serializers.CharField(help_text="Asked first.")
    model = serializers.CharField(help_text="Asked for first.")
    answered_provider = serializers.CharField()
    answered_model = serializers.CharField()
    scenario = serializers.CharField()
    depth = serializers.IntegerField()
    input_tokens = serializers.IntegerField(help_text="All input, cached included.")
    cached_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    reasoning_tokens = serializers.IntegerField()
    cost_microdollars = serializers.IntegerField(allow_null=True, help_text="Null: no known price.")
    error_kind = serializers.CharField()
    created_at = StampField()
    started_at = StampField(allow_null=True)
    ended_at = StampField(allow_null=True)


class ActionShape(Shape):
    """A verb of the reply, with what became of it."""

    ordinal = serializers.IntegerField(help_text="Place in the reply, from 0.")
    line = serializers.IntegerField()
    verb = serializers.CharField()
    args = serializers.CharField()
    body = serializers.CharField(allow_null=True)
    outcome = serializers.ChoiceField(choices=ActionOutcome.choices)
    reason = serializers.CharField(help_text="Why not, or what of it was left out.")
    summary = serializers.CharField(help_text="What it did, in words.")
    before = serializers.JSONField()
    after = serializers.JSONField()
    issue = serializers.CharField(source="issue.identifier", allow_null=True)
    approval = serializers.IntegerField(source="approval_id", allow_null=True)


class CallShape(Shape):
    """One call of a model."""

    purpose = serializers.CharField(help_text="`heartbeat` for the run itself, `dry run` for one that changed nothing.")
    provider = serializers.CharField()
    model = serializers.CharField()
    answered_model = serializers.CharField()
    request_id = serializers.CharField(help_text="The provider's.")
    stop_reason = serializers.CharField()
    input_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()
    cache_write_tokens = serializers.IntegerField(help_text="Of the input, kept by the provider.")
    output_tokens = serializers.IntegerField()
    reasoning_tokens = serializers.IntegerField()
    cost_microdollars = serializers.IntegerField(allow_null=True)
    price = serializers.JSONField(help_text="Dollars a million tokens, by which the cost was reckoned; empty: unknown.")
    error_kind = serializers.CharField()
    error = serializers.CharField()
    started_at = StampField()
    seconds = serializers.FloatField()
    tries = serializers.IntegerField(help_text="Requests that it took, the failed ones included.")


@extend_schema_field(OpenApiTypes.STR)
class NextStepField(serializers.Field[Any, Any, str, Run]):
    """The next sensible step after a run's error, in words."""

    def __init__(self, **options: Any) -> None:
        super().__init__(source="error_kind", read_only=True, **options)

    def to_representation(self, value: str) -> str:
        return explain_failure(value).next_step if value else ""


@extend_schema_field(OpenApiTypes.STR)
class OutputField(serializers.Field[Any, Any, str | None, Run]):
    """What the run's program has shown."""

    def __init__(self, **options: Any) -> None:
        super().__init__(source="*", read_only=True, allow_null=True, **options)

    def to_representation(self, value: Run) -> str | None:
        output = RunOutput.objects.filter(run=value).first()
        return output.text if output is not None else None


class RunShape(RunRowShape):
    """A run, whole but for its prompt."""

    reply = serializers.CharField(allow_null=True, help_text="Exactly as received; null before.")
    output = OutputField(help_text="What its program has shown of its work so far; null without a program.")
    stop_reason = serializers.CharField()
    dropped = serializers.JSONField(help_text="Lines of the reply that did not act, and why.")
    hint = serializers.CharField()
    error = serializers.CharField()
    next_step = NextStepField(help_text="What to do about the error; empty without one.")
    attempt = serializers.IntegerField()
    prompt_built_at = StampField(allow_null=True)
    replied_at = StampField(allow_null=True)
    applied_at = StampField(allow_null=True)
    wakeups = WakeupShape(many=True)
    actions = ActionShape(many=True)
    calls = CallShape(many=True)


class PromptShape(Shape):
    """Both messages exactly as sent; empty once the company's retention is over."""

    system = serializers.CharField(source="system_message")
    user = serializers.CharField(source="user_message")
    sections = serializers.JSONField(source="prompt_sections", help_text="Title, bytes and place of each.")
    facts = serializers.JSONField(
        source="prompt_facts", help_text="Tokens, deferred sections, parameters, characters taken out."
    )
    contract_hash = serializers.CharField()
    instructions_hash = serializers.CharField()
    skills_hash = serializers.CharField()
    built_at = StampField(source="prompt_built_at", allow_null=True)


class DryRunShape(Shape):
    """What the agent would answer to a run's prompt now, and what would become of it. Nothing of it was applied."""

    id = serializers.IntegerField()
    run = serializers.IntegerField(source="run_id")
    state = serializers.ChoiceField(choices=DryRunState.choices)
    asked_by = SomebodyField("member", allow_null=True)
    model = serializers.CharField(help_text="The model that answered.")
    reply = serializers.CharField(allow_null=True, help_text="Exactly as received; null before.")
    comment = serializers.CharField(source="prose", help_text="What would have become the comment.")
    actions = serializers.JSONField(help_text="Each action, with what would have become of it.")
    dropped = serializers.JSONField()
    tokens = serializers.IntegerField()
    cost_microdollars = serializers.IntegerField(allow_null=True, help_text="Null: no known price.")
    error_kind = serializers.CharField()
    error = serializers.CharField()
    created_at = StampField()
    started_at = StampField(allow_null=True)
    ended_at = StampField(allow_null=True)


class WholeRunShape(RunShape):
    """A run with its prompt: all that its page shows."""

    prompt = PromptShape(source="*")


class RunQuery(WorkQuery):
    state = CommaField(child=serializers.ChoiceField(choices=RunState.choices), required=False)


class Runs(Resource):
    @operation("List runs", tag=TAG, query=RunQuery, answer=RunRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Run]:
        """The newest first. An agent is shown its own."""
        scope = scope_of(self.actor, query["company"])
        return self.page(selected(_rows(scope.actor), scope, query), NEWEST_FIRST, query)


class IssueRuns(Resource):
    @operation("List the runs on an issue", tag=TAG, query=PageQuery, answer=RunRowShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Run]:
        scope, issue = issue_in_scope(self.actor, identifier)
        return self.page(_rows(scope.actor).filter(issue=issue), NEWEST_FIRST, query)


class RunItem(Resource):
    @operation("Get a run", tag=TAG, answer=RunShape)
    def get(self, *, id: int) -> Run:
        """An agent is shown its own alone."""
        return row_in_scope(self.actor, _whole(self.actor), id)[1]


class WholeRun(Resource):
    @operation("Get a run with its prompt", tag=TAG, answer=WholeRunShape)
    def get(self, *, id: int) -> Run:
        """All that the run's page shows, to keep or to pass on. An agent is shown its own alone."""
        return row_in_scope(self.actor, _whole(self.actor), id)[1]


class RunPrompt(Resource):
    @operation("Get the prompt of a run", tag=TAG, answer=PromptShape)
    def get(self, *, id: int) -> Run:
        return row_in_scope(self.actor, _visible(self.actor), id)[1]


class RunCancel(Resource):
    @operation("Cancel a run", tag=TAG, answer=RunShape)
    def post(self, *, id: int) -> Run:
        """The checkout is free at once; an answer that still comes is not applied. Refused if the run has ended."""
        scope, run = row_in_scope(self.actor, _visible(self.actor), id)
        cancel_run(actor=scope.actor, run=run)
        return _whole(self.actor).get(pk=id)


class RunRetry(Resource):
    @operation("Retry a run", tag=TAG, answer=WakeupShape, status=HTTPStatus.ACCEPTED)
    def post(self, *, id: int) -> Wakeup:
        """Wakes the same agent on the same issue once more, as things stand now."""
        scope, run = row_in_scope(self.actor, _visible(self.actor), id)
        return retry_run(actor=scope.actor, run=run)


class RunDryRuns(Resource):
    @operation("List the dry re-runs of a run", tag=TAG, query=PageQuery, answer=DryRunShape, paged=True)
    def get(self, *, id: int, query: Mapping[str, Any]) -> Page[DryRun]:
        _, run = row_in_scope(self.actor, _visible(self.actor), id)
        return self.page(run.dry_runs.select_related("member__user"), NEWEST_FIRST, query)

    @operation("Run a run dry", tag=TAG, answer=DryRunShape, status=HTTPStatus.ACCEPTED)
    def post(self, *, id: int) -> DryRun:
        """Asks the model the run's prompt once more and notes what would become of the answer; nothing is applied. It
        costs a call. Look at the list until it is done."""
        scope, run = row_in_scope(self.actor, _visible(self.actor), id)
        return ask_for_dry_run(actor=scope.actor, run=run)


def _visible(actor: Actor) -> QuerySet[Run]:
    rows = Run.objects.select_related("company", "issue__company", "agent").defer(
        *texts_of("agent"), "issue__description"
    )
    return rows.filter(agent=actor.agent) if isinstance(actor, Worker) else rows


def _rows(actor: Actor) -> QuerySet[Run]:
    """What a list shows: none of the long texts."""
    texts = ("system_message", "user_message", "prompt_sections", "reply", "dropped", "error")
    return _visible(actor).defer(*texts, *texts_of("agent"), "issue__description")


def _whole(actor: Actor) -> QuerySet[Run]:
    return _visible(actor).prefetch_related(
        "actions__issue__company",
        "calls",
        "wakeups__agent",
        "wakeups__issue__company",
        "wakeups__member__user",
        "wakeups__by_agent",
    )
