"""A yes to an action as the person wrote it anew."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.models import ActionOutcome
from agents.services.agents import edit_agent
from issues.models import Approval, ApprovalStatus
from issues.refusals import Conflict, Invalid
from issues.services.approvals import Words, hash_payload
from tests import build
from tests.verbs.stage import Stage


@pytest.fixture
def approval(stage: Stage) -> Approval:
    """Bob, on probation, asks to hand his issue on."""
    edit_agent(actor=stage.owner, agent=stage.bob, policy="probation")
    stage.reply("/assign @ada")
    return Approval.objects.get()


def test_what_the_person_wrote_is_hashed_and_carried_out_in_one(stage: Stage, approval: Approval) -> None:
    asked = approval.payload["actions"]
    decided = stage.decide(approval, edited=[Words("@acme-founder")], shown_hash=approval.payload_hash)
    assert (decided.status, decided.failure) == (ApprovalStatus.APPROVED, "")
    assert stage.again().assignee_member == stage.owner.member
    assert decided.payload["asked"] == asked
    assert "They edited it first." in build.pending(stage.bob)[-1].reason
    assert decided.payload_hash == hash_payload(decided.payload) != approval.payload_hash
    action = approval.run.actions.get() if approval.run else None
    assert action is not None
    assert action.outcome == ActionOutcome.APPLIED


def test_words_that_mean_nothing_leave_everything_as_it_was_and_say_so(stage: Stage, approval: Approval) -> None:
    decided = stage.decide(approval, edited=[Words("@nobody")])
    assert "nobody" in decided.failure
    assert stage.again().assignee_agent == stage.bob


def test_an_edit_of_what_was_not_shown_is_refused(stage: Stage, approval: Approval) -> None:
    with pytest.raises(Conflict, match="has changed since it was shown"):
        stage.decide(approval, edited=[Words("@acme-founder")], shown_hash="0" * 64)
    approval.refresh_from_db()
    assert "asked" not in approval.payload


def test_only_an_approval_can_be_edited_and_only_for_this_once(stage: Stage, approval: Approval) -> None:
    with pytest.raises(Invalid):
        stage.decide(approval, ApprovalStatus.REFUSED, edited=[Words("@acme-founder")])
    with pytest.raises(Invalid):
        stage.decide(approval, edited=[Words("@acme-founder")], always=True)
    with pytest.raises(Invalid):
        stage.decide(approval, edited=[])


def test_the_form_offers_the_words_and_takes_them(stage: Stage, approval: Approval) -> None:
    client = Client()
    client.force_login(stage.owner.user)
    body = client.get(f"/acme/approvals/{approval.pk}/").content.decode()
    assert 'name="args-0" rows="1">@ada</textarea>' in body
    sent = {"edited": "yes", "args-0": "none", "shown": approval.payload_hash}
    client.post(f"/acme/approvals/{approval.pk}/decide/", sent)
    assert stage.again().assignee_agent is None
