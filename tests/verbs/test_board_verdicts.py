"""What the board decides about an action stands with that action: on the run's page, in the API, in the timeline, and
in the agent's next prompt."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.html import strip_tags

from agents.models import ActionOutcome, RunAction
from agents.services.agents import edit_agent
from engine.workbench import draft_prompt
from issues.models import Activity, Approval, ApprovalStatus, Status
from issues.names import Names
from issues.sentences import named_in, tell
from issues.services.issues import assign_issue, set_status
from issues.services.undo import undo
from issues.traces import traced
from tests.api.client import as_person
from tests.verbs.stage import Stage


@pytest.fixture
def asked(stage: Stage) -> Approval:
    """Bob, on probation, asks to hand his issue on."""
    edit_agent(actor=stage.owner, agent=stage.bob, policy="probation")
    stage.reply("/assign @ada\n/priority high")
    return Approval.objects.get()


def action(approval: Approval) -> RunAction:
    """The action that waited for it."""
    return RunAction.objects.get(run=approval.run, verb="assign")


def fail(stage: Stage, approval: Approval) -> Approval:
    """Approve what no longer means what it did when it was asked."""
    assign_issue(actor=stage.owner, issue=stage.again(), assignee=None)
    return stage.decide(approval)


def test_one_that_was_carried_out_is_applied(stage: Stage, asked: Approval) -> None:
    stage.decide(asked)
    assert (action(asked).outcome, action(asked).reason) == (ActionOutcome.APPLIED, "")


def test_one_that_could_not_be_carried_out_has_failed_with_the_reason(stage: Stage, asked: Approval) -> None:
    failure = fail(stage, asked).failure
    assert failure
    assert action(asked).outcome == ActionOutcome.FAILED
    assert action(asked).reason == f"Approved, but it could not be carried out. {failure}"


@pytest.mark.parametrize(
    ("status", "note", "reason"),
    [
        (ApprovalStatus.REFUSED, "Bob knows it best.", "refused it: Bob knows it best."),
        (ApprovalStatus.SENT_BACK, "Say why.", "sent it back: Say why."),
        (ApprovalStatus.REFUSED, "", "refused it."),
    ],
)
def test_one_that_was_not_approved_is_denied_in_the_persons_words(
    stage: Stage, asked: Approval, status: ApprovalStatus, note: str, reason: str
) -> None:
    stage.decide(asked, status, note=note)
    assert (action(asked).outcome, action(asked).reason) == (ActionOutcome.DENIED, f"{stage.owner.member} {reason}")


def test_a_note_of_any_length_fits(stage: Stage, asked: Approval) -> None:
    stage.decide(asked, ApprovalStatus.REFUSED, note="No. " * 2_000)
    assert len(action(asked).reason) == 500


def test_what_the_closing_of_the_issue_cancels_is_denied_and_waits_again_once_that_is_undone(
    stage: Stage, asked: Approval
) -> None:
    with traced() as trace:
        set_status(actor=stage.owner, issue=stage.again(), status=Status.CANCELLED)
    assert (action(asked).outcome, action(asked).reason) == (
        ActionOutcome.DENIED,
        "The issue was closed before the board decided.",
    )
    undo(actor=stage.owner, company=stage.company, trace=trace.taken())
    assert (action(asked).outcome, action(asked).reason) == (
        ActionOutcome.APPROVAL,
        "It waits for the board again.",
    )
    stage.decide(asked)
    assert action(asked).outcome == ActionOutcome.APPLIED


def test_all_actions_of_one_approval_share_its_fate_and_no_other_is_touched(stage: Stage) -> None:
    edit_agent(actor=stage.owner, agent=stage.bob, policy="probation")
    stage.reply("/create-issue One\n/create-issue Two\n/assign @ada\n/priority high\n/label nonsense")
    plan, single = Approval.objects.order_by("pk")
    stage.decide(plan, ApprovalStatus.REFUSED)
    outcomes = RunAction.objects.order_by("ordinal").values_list("outcome", flat=True)
    assert list(outcomes) == ["denied", "denied", "approval", "applied", "failed"]
    stage.decide(single)
    assert list(outcomes.all()) == ["denied", "denied", "applied", "applied", "failed"]


class TestWhereItIsSeen:
    def test_on_the_runs_page(self, stage: Stage, asked: Approval) -> None:
        client = Client()
        client.force_login(stage.owner.user)
        address = f"/acme/runs/{asked.run_id}/"
        assert "1 waiting for approval" in client.get(address).content.decode()
        stage.decide(asked, ApprovalStatus.REFUSED, note="Bob knows it best.")
        page = client.get(address).content.decode()
        assert "2 actions: 1 applied, 1 denied." in page
        assert "refused it: Bob knows it best." in page

    def test_in_the_api(self, stage: Stage, asked: Approval) -> None:
        failure = fail(stage, asked).failure
        shown = as_person(stage.owner).get(f"runs/{asked.run_id}")["actions"][0]
        assert shown["outcome"] == "failed"
        assert failure in shown["reason"]

    def test_in_the_timeline_beside_the_decision(self, stage: Stage, asked: Approval) -> None:
        fail(stage, asked)
        lines = Activity.objects.filter(issue=stage.issue, kind="action.refused")
        assert [strip_tags(tell(line, Names(stage.company, named_in([line])), "/acme/").text) for line in lines] == [
            f"tried /assign, which could not be done: run {asked.run_id}"
        ]
        assert [line.agent for line in lines] == [stage.bob]

    def test_in_the_agents_next_prompt(self, stage: Stage, asked: Approval) -> None:
        stage.decide(asked, ApprovalStatus.REFUSED, note="Bob knows it best.")
        prompt = draft_prompt(stage.bob, stage.again()).user
        assert f"- /assign @ada, denied: {stage.owner.member} refused it: Bob knows it best." in prompt
