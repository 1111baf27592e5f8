"""Checkpoints from real rows: when one is written, by what it is refused, and what the next prompt shows."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.model_choices import ModelChoice
from agents.models import Agent, Checkpoint, ModelCall, Reservation, Run, Spending
from agents.services.providers import change_models
from agents.services.wakeups import run_heartbeat
from engine import checkpoints
from engine.checkpoints import KEPT_NEWEST, checkpoint_after
from engine.sweep import NOBODY_ASKS, settle_left_behind
from engine.text.checkpoint_request import CHECKPOINT_CONTRACT
from issues.effects import quietly
from issues.models import Issue
from issues.services.companies import change_company
from tests import build
from tests.adapters.wire import answer
from tests.engine.recording import KEYS, recorded
from tests.engine.running import run_next

pytestmark = pytest.mark.django_db(transaction=True)

COMMENTS = 40
SUMMED_UP = COMMENTS + 1 - KEPT_NEWEST
"""With the comment of the run that showed the need."""


@pytest.fixture
def issue(settings: Settings) -> Issue:
    """An issue of Ada's with more talk than her prompt has room for."""
    settings.LLM = KEYS
    company, owner = build.company_with_founder(prompt_budget=4_000)
    change_models(actor=owner, company=company, tiers={"light": ModelChoice("", "a-small-model")})
    ada = build.agent(company, "Ada", provider="openai", model="a-model-nobody-knows")
    with quietly():
        issue = build.issue(company, "Export loses rows", assignee=ada)
        talk(issue, COMMENTS)
    return issue


def talk(issue: Issue, count: int) -> None:
    with quietly():
        for number in range(count):
            build.comment(issue, f"Thought {number}. " + "The export drops rows on Fridays. " * 12)


def first_id(issue: Issue) -> int:
    return int(issue.comments.earliest("pk").pk)


def proposal(issue: Issue, **changes: Any) -> str:
    cite = f"comment {first_id(issue)}"
    plain = {
        "objective": "Mend the export",
        "add": {"commitments": [{"text": "Bob sends the query", "cites": [cite]}]},
    }
    return json.dumps(plain | changes)


def see_through(issue: Issue, said: str) -> tuple[Run, list[dict[str, Any]]]:
    """A run of Ada's, and what follows it; `said` answers the request for a checkpoint."""

    def respond(body: dict[str, Any]) -> httpx2.Response:
        is_checkpoint = body["messages"][0]["content"] == CHECKPOINT_CONTRACT
        return answer("openai", said if is_checkpoint else "Noted.")

    ada = Agent.objects.get(handle="ada")
    run_heartbeat(actor=build.owner_of(issue.company), agent=ada, issue=issue)
    with recorded("openai", respond) as bodies:
        run = run_next()
        checkpoint_after(run)
    return run, bodies[1:]


def test_what_the_prompt_had_no_room_for_is_summed_up_and_stands_in_the_next_one(issue: Issue) -> None:
    run, (asked,) = see_through(issue, proposal(issue))
    assert "earlier comments omitted" in run.user_message
    assert asked["model"] == "a-small-model"
    assert "Thought 0. " in asked["messages"][1]["content"]
    checkpoint = Checkpoint.objects.get()
    assert (checkpoint.number, checkpoint.problem, checkpoint.comments) == (1, "", SUMMED_UP)
    following, asked_again = see_through(issue, proposal(issue))
    assert f"The {SUMMED_UP} comments before are summed up here." in following.user_message
    assert "Bob sends the query" in following.user_message
    assert f"Thought {COMMENTS - 1}. " in following.user_message
    assert "Thought 0. " not in following.user_message
    assert asked_again == []  # too little came since


def test_the_next_one_goes_on_from_the_one_before(issue: Issue) -> None:
    see_through(issue, proposal(issue))
    talk(issue, 20)
    newest = issue.comments.order_by("-pk")[KEPT_NEWEST]
    closing = json.dumps({"close": [{"id": "C1", "cites": [f"comment {newest.pk}"]}]})
    _, (asked,) = see_through(issue, closing)
    assert "Bob sends the query" in asked["messages"][1]["content"]
    assert "Thought 30. " not in asked["messages"][1]["content"]  # it is on record
    first, second = Checkpoint.objects.order_by("number")
    assert second.fields["commitments"][0]["closed_by"] == [f"comment {newest.pk}"]
    assert second.fields["objective"] == "Mend the export"
    assert first.fields["commitments"][0]["closed_by"] == []
    assert second.comments > first.comments


def test_a_proposal_that_breaks_a_rule_changes_nothing_and_is_noted_with_its_cost(issue: Issue) -> None:
    run, _ = see_through(issue, proposal(issue, add={"evidence": [{"text": "Invented", "cites": ["comment 0"]}]}))
    tried = Checkpoint.objects.get()
    assert (tried.problem, tried.fields) == ("comment 0 was not shown.", {})
    call = ModelCall.objects.get(purpose="checkpoint")
    assert (call.error_kind, call.run) == ("refused", None)
    following, asked = see_through(issue, proposal(issue))
    assert asked == []  # not again at once
    assert "earlier comments omitted" in following.user_message
    Checkpoint.objects.update(created_at=timezone.now() - timedelta(hours=2))
    _, asked = see_through(issue, proposal(issue))
    assert len(asked) == 1
    assert Checkpoint.objects.filter(problem="").count() == 1


def test_its_call_counts_in_the_budget_and_nothing_stays_set_aside(issue: Issue) -> None:
    see_through(issue, proposal(issue))
    spent = Spending.objects.get(agent=None)
    calls = ModelCall.objects.all()
    assert calls.count() == 2
    assert spent.tokens == sum(call.input_tokens + call.output_tokens for call in calls)
    assert spent.reserved_tokens == 0


def test_what_was_set_aside_by_a_worker_that_died_over_it_is_settled_when_nobody_can_be_at_it(
    issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "_store", die)
        with pytest.raises(Died):
            see_through(issue, proposal(issue))
    settle_left_behind()
    before = Spending.objects.get(agent=None)
    assert before.reserved_tokens > 0
    Run.objects.update(ended_at=timezone.now() - NOBODY_ASKS - timedelta(seconds=1))
    settle_left_behind()
    after = Spending.objects.get(agent=None)
    assert (after.tokens, after.reserved_tokens) == (before.tokens + before.reserved_tokens, 0)
    assert not Reservation.objects.exists()


class Died(BaseException):
    """A worker is killed."""


def die(*_args: object) -> None:
    raise Died


def test_a_company_that_wants_none_gets_none(issue: Issue) -> None:
    see_through(issue, proposal(issue))
    talk(issue, 20)
    change_company(actor=build.owner_of(issue.company), company=issue.company, checkpoints=False)
    following, asked = see_through(issue, proposal(issue))
    assert asked == []
    assert "summed up" not in following.user_message


def test_a_history_that_fits_needs_none(issue: Issue) -> None:
    change_company(actor=build.owner_of(issue.company), company=issue.company, prompt_budget=100_000)
    _, asked = see_through(issue, proposal(issue))
    assert asked == []


def test_a_provider_that_fails_is_noted_and_concerns_no_run(issue: Issue) -> None:
    def respond(body: dict[str, Any]) -> httpx2.Response:
        if body["messages"][0]["content"] == CHECKPOINT_CONTRACT:
            return httpx2.Response(401, json={"error": {"message": "No such key."}})
        return answer("openai", "Noted.")

    run_heartbeat(actor=build.owner_of(issue.company), agent=Agent.objects.get(handle="ada"), issue=issue)
    with recorded("openai", respond):
        run = run_next()
        checkpoint_after(run)
    run.refresh_from_db()
    assert run.state == "succeeded"
    assert Checkpoint.objects.get().problem
    assert Spending.objects.get(agent=None).reserved_tokens == 0
