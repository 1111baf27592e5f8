"""Approvals over the API."""

from __future__ import annotations

import pytest

from agents.models import Agent
from issues.models import Approval, Company, Role
from issues.services.approvals import ask_question, propose_action
from tests import build
from tests.api.client import Api, as_agent, as_person


@pytest.fixture
def request_of_ada(ada: Agent, ada_api: Api, company: Company) -> Approval:
    build.issue(company, assignee=ada)
    answer = ada_api.post("issues/ACME-1/requests", {"title": "Spend 10 dollars?", "explanation": "For a door."})
    assert answer.status == 201
    return Approval.objects.get(pk=answer["id"])


@pytest.mark.parametrize("status", ["approved", "refused", "sent_back"])
def test_a_request_is_decided_and_its_agent_woken(api: Api, ada: Agent, request_of_ada: Approval, status: str) -> None:
    shown = api.get(f"approvals/{request_of_ada.pk}")
    decided = api.post(
        f"approvals/{request_of_ada.pk}/decision",
        {"status": status, "note": "So be it.", "payload_hash": shown["payload_hash"]},
    )
    assert decided.status == 200
    assert (decided["status"], decided["note"], decided["decided_by"]["handle"]) == (
        status,
        "So be it.",
        "acme-founder",
    )
    assert "approval_decided" in [wakeup.source for wakeup in build.pending(ada)]


def test_a_request_is_decided_once(api: Api, request_of_ada: Approval) -> None:
    path = f"approvals/{request_of_ada.pk}/decision"
    api.post(path, {"status": "approved"})
    assert api.post(path, {"status": "refused"}).status == 409
    assert api.get(f"approvals/{request_of_ada.pk}")["status"] == "approved"


def test_a_decision_on_another_payload_than_was_shown_is_refused(api: Api, request_of_ada: Approval) -> None:
    answer = api.post(f"approvals/{request_of_ada.pk}/decision", {"status": "approved", "payload_hash": "0" * 64})
    assert answer.status == 409


@pytest.mark.parametrize("status", ["answered", "cancelled", "pending", "perhaps"])
def test_a_request_ends_in_no_other_way(api: Api, request_of_ada: Approval, status: str) -> None:
    assert api.post(f"approvals/{request_of_ada.pk}/decision", {"status": status}).status == 422


def test_no_agent_decides_not_even_its_own(ada_api: Api, company: Company, request_of_ada: Approval) -> None:
    path = f"approvals/{request_of_ada.pk}/decision"
    assert ada_api.post(path, {"status": "approved"}).status == 403
    assert as_agent(build.agent(company, "Bob")).post(path, {"status": "approved"}).status == 404


def test_a_viewer_reads_approvals_and_decides_none(company: Company, request_of_ada: Approval) -> None:
    viewer = as_person(build.member(company, role=Role.VIEWER))
    assert viewer.get(f"approvals/{request_of_ada.pk}").status == 200
    assert viewer.post(f"approvals/{request_of_ada.pk}/decision", {"status": "approved"}).status == 403


def test_who_approves_an_action_says_which_payload_was_looked_at_and_who_may_not_is_told_that_first(
    api: Api, ada: Agent, company: Company
) -> None:
    issue = build.issue(company, assignee=ada)
    worker = build.at_work(ada, issue)
    asked = propose_action(actor=worker, issue=issue, title="Do it", payload={"actions": []}, explanation="")
    path = f"approvals/{asked.pk}/decision"
    assert as_person(build.member(company, role=Role.VIEWER)).post(path, {"status": "approved"}).status == 403
    unsaid = api.post(path, {"status": "approved"})
    assert (unsaid.status, list(unsaid["errors"])) == (422, ["payload_hash"])


def test_a_question_is_asked_and_answered(api: Api, ada: Agent, ada_api: Api, company: Company) -> None:
    build.issue(company, assignee=ada)
    asked = ada_api.post("issues/ACME-1/questions", {"question": "Which colour?", "choices": ["red", "blue"]})
    assert (asked.status, asked["kind"], asked["choices"]) == (201, "question", ["red", "blue"])
    path = f"approvals/{asked['id']}/decision"
    assert api.post(path, {"status": "answered"}).status == 422
    assert api.post(path, {"status": "answered", "note": "red"})["note"] == "red"


def test_approvals_are_listed_by_what_is_asked(
    api: Api, ada: Agent, ada_api: Api, company: Company, request_of_ada: Approval
) -> None:
    bob = build.agent(company, "Bob")
    other = build.issue(company, assignee=bob)
    ask_question(actor=build.at_work(bob, other), issue=other, question="Why?")

    def titles(calls: Api, **query: str) -> list[str]:
        return [row["title"] for row in calls.get("approvals", **query).rows]

    assert titles(api) == ["Why?", "Spend 10 dollars?"]
    assert titles(api, kind="question") == ["Why?"]
    assert titles(api, issue="ACME-1") == ["Spend 10 dollars?"]
    assert titles(api, status="approved") == []
    assert titles(ada_api) == ["Spend 10 dollars?"]
