"""An answer that holds from now on, given on the board and over the API."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.models import Agent
from engine.workbench import try_reply
from issues.models import Approval, Company, PolicyRule, Status
from tests import build
from tests.api.client import as_person


@pytest.fixture
def asked(company: Company) -> Approval:
    """Ada wants to close what is not hers."""
    ada = build.agent(company, "Ada")
    build.issue(company, assignee=build.agent(company, "Carl"))
    home = build.issue(company, assignee=ada)
    (outcome,) = try_reply(ada, home, "/status cancelled on #1", is_dry=False).outcomes
    assert outcome.approval is not None
    return outcome.approval


def rules() -> list[tuple[Agent | None, str, str]]:
    return [(rule.agent, rule.permission, rule.grant) for rule in PolicyRule.objects.all()]


def test_the_form_offers_it_for_an_action_and_not_for_a_request(page: Client, asked: Approval) -> None:
    assert b'name="always"' in page.get(f"/acme/approvals/{asked.pk}/").content
    request = build.approval(asked.issue, actor=build.owner_of(asked.company))
    assert b'name="always"' not in page.get(f"/acme/approvals/{request.pk}/").content


def test_ticked_it_becomes_a_rule_for_the_agent(page: Client, asked: Approval) -> None:
    page.post(
        f"/acme/approvals/{asked.pk}/decide/", {"decision": "approved", "always": "yes", "shown": asked.payload_hash}
    )
    assert rules() == [(asked.requested_by_agent, "close", "allow")]
    assert asked.company.issues.get(number=1).status == Status.CANCELLED


def test_left_alone_it_does_not(page: Client, asked: Approval) -> None:
    page.post(f"/acme/approvals/{asked.pk}/decide/", {"decision": "approved", "shown": asked.payload_hash})
    assert rules() == []


@pytest.mark.parametrize(("always", "made"), [(True, 1), (False, 0)])
def test_so_it_is_over_the_api(asked: Approval, always: bool, made: int) -> None:
    api = as_person(build.owner_of(asked.company))
    answer = api.post(
        f"approvals/{asked.pk}/decision", {"status": "approved", "always": always, "payload_hash": asked.payload_hash}
    )
    assert answer.status == 200
    assert len(rules()) == made
