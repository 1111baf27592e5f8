"""Deciding by the page and by the API: once, and only what was shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from django.http import HttpResponse
from django.test import Client

from agents.services.agents import edit_agent
from issues.actors import Person
from issues.models import Activity, Approval, ApprovalStatus, Issue
from issues.services.approvals import hash_payload
from tests import build
from tests.api.client import Answer, Api, as_person
from tests.services.at_once import at_once
from tests.verbs.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def approval(stage: Stage) -> Approval:
    """Bob, on probation, asks to hand his issue on."""
    edit_agent(actor=stage.owner, agent=stage.bob, policy="probation")
    stage.reply("/assign @ada")
    return Approval.objects.get()


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person.user)
    return client


def by_page(client: Client, approval: Approval, decision: str, shown: str = "") -> int:
    form = {"decision": decision, "shown": shown or approval.payload_hash}
    answer: HttpResponse = client.post(f"/acme/approvals/{approval.pk}/decide/", form, headers={"HX-Request": "true"})
    return answer.status_code


def by_call(api: Api, approval: Approval, decision: str, shown: str = "") -> int:
    form = {"status": decision, "payload_hash": shown or approval.payload_hash}
    answer: Answer = api.post(f"approvals/{approval.pk}/decision", form)
    return answer.status


Way = Callable[[Person], Callable[..., int]]
WAYS: dict[str, Way] = {
    "page": lambda person: partial(by_page, browser(person)),
    "call": lambda person: partial(by_call, as_person(person)),
}


@pytest.mark.parametrize(("first", "second"), [("page", "page"), ("page", "call"), ("call", "call")])
def test_two_people_at_once_make_one_decision(stage: Stage, approval: Approval, first: str, second: str) -> None:
    boss = build.member(stage.company, "boss")
    yes, no = WAYS[first](stage.owner), WAYS[second](boss)
    codes = at_once([partial(yes, approval, "approved"), partial(no, approval, "refused")])
    assert sorted(code for code in codes if isinstance(code, int))[1:] == [409]
    approval.refresh_from_db()
    was_approved = approval.status == ApprovalStatus.APPROVED
    assert (Issue.objects.get(pk=stage.issue.pk).assignee_agent == stage.ada) == was_approved
    assert approval.decided_by == (stage.owner if was_approved else boss).member
    assert Activity.objects.filter(kind="approval.decided").count() == 1
    assert Activity.objects.filter(kind="issue.assigned").count() == int(was_approved)
    assert len([one for one in build.pending(stage.bob) if one.source == "approval_decided"]) == 1


@pytest.mark.parametrize("way", WAYS)
def test_what_is_another_by_now_is_not_decided(stage: Stage, approval: Approval, way: str) -> None:
    shown = approval.payload_hash
    approval.payload["actions"][0]["args"] = "@acme-founder"
    approval.payload_hash = hash_payload(approval.payload)
    approval.save()
    decide = WAYS[way](stage.owner)
    assert decide(approval, "approved", shown) == 409
    approval.refresh_from_db()
    assert approval.is_pending
    assert Issue.objects.get(pk=stage.issue.pk).assignee_agent == stage.bob


@pytest.mark.parametrize("way", WAYS)
def test_a_payload_that_was_changed_behind_its_hash_is_void(stage: Stage, approval: Approval, way: str) -> None:
    approval.payload["actions"][0]["args"] = "@acme-founder"
    approval.save()
    assert WAYS[way](stage.owner)(approval, "approved") == 409
    assert Issue.objects.get(pk=stage.issue.pk).assignee_agent == stage.bob


def test_the_page_and_the_api_show_the_hash_that_binds_the_decision(stage: Stage, approval: Approval) -> None:
    page = browser(stage.owner).get(f"/acme/approvals/{approval.pk}/").content.decode()
    assert f'name="shown" value="{approval.payload_hash}"' in page
    assert as_person(stage.owner).get(f"approvals/{approval.pk}")["payload_hash"] == approval.payload_hash


def test_an_action_is_not_approved_without_saying_what_was_looked_at(stage: Stage, approval: Approval) -> None:
    form = {"decision": "approved"}
    assert browser(stage.owner).post(f"/acme/approvals/{approval.pk}/decide/", form).status_code == 422
    answer = as_person(stage.owner).post(f"approvals/{approval.pk}/decision", {"status": "approved"})
    assert (answer.status, list(answer["errors"])) == (422, ["payload_hash"])
    assert as_person(stage.owner).post(f"approvals/{approval.pk}/decision", {"status": "refused"}).status == 200
