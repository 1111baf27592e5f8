"""The policy's page: what holds, and how it is changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from engine.policy_table import movable_permissions
from engine.verbs.registry import VERBS
from issues.actors import Person
from issues.models import Company, PolicyRule, Role
from issues.rights import Reach
from tests import build

PAGE = "/acme/settings/policy/"


def rules() -> list[tuple[str, str, str]]:
    """Each rule's permission, scope and grant."""
    return [
        (rule.permission, rule.agent.handle if rule.agent else rule.role, rule.grant)
        for rule in PolicyRule.objects.select_related("agent")
    ]


def test_it_decides_about_every_verb_and_about_nothing_that_only_people_do() -> None:
    movable = movable_permissions()
    assert {str(verb.right) for verb in VERBS} <= set(movable)
    assert all(permission.reach is not Reach.NOWHERE for permission in movable.values())


def test_it_names_each_with_its_reach(page: Client, company: Company) -> None:
    body = page.get(PAGE).content.decode()
    for verb in VERBS:
        assert verb.name in body
        assert verb.right.reach.value in body


def test_a_rule_is_set_changed_and_taken_back(page: Client, company: Company) -> None:
    page.post(PAGE, {"permission": "assign", "role": "", "grant": "approval"})
    assert rules() == [("assign", "", "approval")]
    page.post(PAGE, {"permission": "assign", "role": "", "grant": "deny"})
    assert rules() == [("assign", "", "deny")]
    page.post(PAGE, {"permission": "assign", "role": "", "grant": ""})
    assert rules() == []


def test_it_can_be_for_a_role_or_an_agent(page: Client, company: Company) -> None:
    ada = build.agent(company, "Ada", role="Engineer")
    page.post(PAGE, {"permission": "close", "role": "Engineer", "grant": "deny"})
    page.post(PAGE, {"permission": "close", "agent": ada.pk, "grant": "allow"})
    assert sorted(rules()) == [("close", "ada", "allow"), ("close", "engineer", "deny")]
    assert "engineer" in page.get(PAGE).content.decode()


@pytest.mark.parametrize(
    "form",
    [
        {"permission": "pin", "grant": "allow"},
        {"permission": "manage-company", "grant": "allow"},
        {"permission": "nonsense", "grant": "allow"},
        {"permission": "assign", "grant": "maybe"},
        {"permission": "assign", "grant": "allow", "agent": "0"},
    ],
)
def test_what_is_no_rule_is_refused(page: Client, company: Company, form: dict[str, str]) -> None:
    assert page.post(PAGE, form).status_code == 422
    assert rules() == []


def test_an_agent_of_another_company_cannot_be_named(page: Client, company: Company) -> None:
    mallory = build.agent(build.company_with_founder("OTHER")[0], "Mallory")
    answer = page.post(PAGE, {"permission": "assign", "grant": "allow", "agent": mallory.pk})
    assert answer.status_code == 422


def test_a_viewer_reads_it_and_changes_nothing(company: Company, browse: Callable[[Person], Client]) -> None:
    viewer = browse(build.member(company, "vi", role=Role.VIEWER))
    assert viewer.get(PAGE).status_code == 200
    assert viewer.post(PAGE, {"permission": "assign", "grant": "deny"}).status_code == 403
    assert rules() == []


def test_how_often_a_run_may_use_a_verb_is_set_and_left_to_the_verb_again(page: Client, company: Company) -> None:
    page.post(f"{PAGE}caps/", {"verb": "assign", "cap": "2"})
    company.refresh_from_db()
    assert company.action_caps == {"assign": 2}
    assert b'value="2"' in page.get(PAGE).content
    page.post(f"{PAGE}caps/", {"verb": "assign", "cap": ""})
    company.refresh_from_db()
    assert company.action_caps == {}


@pytest.mark.parametrize(
    "form", [{"verb": "nonsense", "cap": "2"}, {"verb": "assign", "cap": "-1"}, {"verb": "assign", "cap": "501"}]
)
def test_what_is_no_limit_is_refused(page: Client, company: Company, form: dict[str, str]) -> None:
    assert page.post(f"{PAGE}caps/", form).status_code == 422
