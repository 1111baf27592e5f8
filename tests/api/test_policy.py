"""The policy through the API: what holds, and how it is moved."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models import Agent
from agents.services.agents import edit_agent
from engine.verbs.registry import VERBS
from issues.actors import Person
from issues.models import Company, Grant, PolicyRule, Role
from issues.policies import Right
from issues.services.policy import change_policy
from tests import build
from tests.api.client import Answer, Api, as_agent, as_person


def rows(answer: Answer) -> dict[str, dict[str, Any]]:
    assert answer.status == 200, answer.body
    return {row["permission"]: row for row in answer["permissions"]}


def places(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[place] for place in ("own", "at_hand", "report", "elsewhere"))


class TestTable:
    def test_it_says_of_every_verb_where_it_is_allowed_asked_for_and_denied(self, api: Api, company: Company) -> None:
        table = rows(api.get("policy"))
        assert {str(verb.right) for verb in VERBS} <= table.keys()
        assert places(table["status"]) == ("allow", "approval", "deny", "deny")
        assert places(table["close"]) == ("allow", "approval", "approval", "approval")
        assert places(table["assign"]) == ("allow", "approval", "allow", "approval")
        assert places(table["comment-on"]) == ("allow",) * 4
        assert places(table["install-skill"]) == ("approval",) * 4
        assert (table["create-issue"]["cap"], table["create-issue"]["own_cap"], table["status"]["cap"]) == (
            10,
            10,
            None,
        )
        assert "pin" not in table

    def test_of_an_agent_it_counts_its_preset_and_the_closest_rule(
        self, api: Api, founder: Person, company: Company, ada: Agent
    ) -> None:
        edit_agent(actor=founder, agent=ada, role="Engineer", policy="probation")
        for grant, scope in (
            (Grant.DENY, {}),
            (Grant.APPROVAL, {"role": "engineer"}),
            (Grant.ALLOW, {"agent": ada}),
        ):
            change_policy(actor=founder, company=company, permission=Right.LABEL, grant=grant, **scope)
        of_ada = api.get("policy", agent="ada")
        assert (of_ada["agent"], of_ada["role"], of_ada["preset"]) == ("ada", "Engineer", "probation")
        table = rows(of_ada)
        assert places(table["label"]) == ("allow", "allow", "deny", "deny")
        assert table["label"]["rule"] == PolicyRule.objects.get(agent=ada).pk
        assert places(table["create-issue"])[0] == "approval"
        assert places(rows(api.get("policy", role="ENGINEER"))["label"])[0] == "approval"
        assert places(rows(api.get("policy"))["label"])[0] == "deny"
        assert places(rows(api.get("policy", preset="probation"))["close"])[0] == "approval"

    def test_an_agent_is_shown_its_own_and_nobody_elses(self, ada_api: Api, company: Company) -> None:
        build.agent(company, "Bob")
        assert ada_api.get("policy")["agent"] == "ada"
        assert ada_api.get("policy", agent="ada").status == 200
        assert ada_api.get("policy", agent="bob").status == 403

    def test_an_agent_or_a_role_is_named(self, api: Api, ada: Agent) -> None:
        assert api.get("policy", agent="ada", role="engineer").status == 422
        assert api.get("policy", agent="nobody").status == 422


class TestRules:
    def test_one_is_set_changed_and_taken_back(self, api: Api, founder: Person, company: Company) -> None:
        first = api.post("policy/rules", {"permission": "assign", "grant": "deny"})
        assert (first.status, first["grant"], first["role"], first["agent"]) == (201, "deny", "", None)
        assert first["made_by"]["handle"] == founder.member.handle if founder.member else False
        second = api.post("policy/rules", {"permission": "assign", "grant": "approval"})
        assert (second["id"], second["grant"]) == (first["id"], "approval")
        assert [rule["id"] for rule in api.get("policy/rules").rows] == [first["id"]]
        assert api.delete(f"policy/rules/{first['id']}").status == 204
        assert api.get(f"policy/rules/{first['id']}").status == 404
        assert not PolicyRule.objects.exists()

    def test_it_can_be_for_a_role_or_an_agent(self, api: Api, ada: Agent) -> None:
        api.post("policy/rules", {"permission": "close", "grant": "deny", "role": "Engineer"})
        api.post("policy/rules", {"permission": "close", "grant": "allow", "agent": "@ada"})
        assert [(rule["role"], rule["agent"]) for rule in api.get("policy/rules").rows] == [
            ("engineer", None),
            ("", "ada"),
        ]

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"permission": "pin", "grant": "allow"}, "permission"),
            ({"permission": "nonsense", "grant": "allow"}, "permission"),
            ({"permission": "assign", "grant": "maybe"}, "grant"),
            ({"permission": "assign"}, "grant"),
            ({"permission": "assign", "grant": "allow", "agent": "nobody"}, "agent"),
            ({"permission": "assign", "grant": "allow", "agent": "ada", "role": "x"}, "agent"),
        ],
    )
    def test_what_is_no_rule_is_refused(self, api: Api, ada: Agent, body: dict[str, Any], field: str) -> None:
        answer = api.post("policy/rules", body)
        assert (answer.status, list(answer["errors"])) == (422, [field])
        assert not PolicyRule.objects.exists()

    def test_agents_and_viewers_change_nothing(self, ada_api: Api, founder: Person, company: Company) -> None:
        rule = change_policy(actor=founder, company=company, permission=Right.LABEL, grant=Grant.DENY)
        assert rule is not None
        for caller in (ada_api, as_person(build.member(company, "vi", role=Role.VIEWER))):
            assert caller.post("policy/rules", {"permission": "assign", "grant": "allow"}).status == 403
            assert caller.post("policy/caps", {"verb": "assign", "cap": 500}).status == 403
            assert caller.delete(f"policy/rules/{rule.pk}").status == 403
            assert caller.get(f"policy/rules/{rule.pk}")["grant"] == "deny"
        assert PolicyRule.objects.get() == rule

    def test_an_agent_is_shown_the_rules_that_hold_for_it(
        self, ada_api: Api, founder: Person, company: Company, ada: Agent
    ) -> None:
        bob = build.agent(company, "Bob")
        for scope in ({}, {"agent": ada}, {"agent": bob}, {"role": "writer"}):
            change_policy(actor=founder, company=company, permission=Right.LABEL, grant=Grant.DENY, **scope)
        assert [rule["agent"] for rule in ada_api.get("policy/rules").rows] == [None, "ada"]
        assert [rule["agent"] for rule in as_agent(bob).get("policy/rules").rows] == [None, "bob"]


class TestCaps:
    def test_one_is_set_and_left_to_the_verb_again(self, api: Api, company: Company) -> None:
        answer = api.post("policy/caps", {"verb": "create-issue", "cap": 2})
        assert answer.body == {"verb": "create-issue", "cap": 2, "own_cap": 10}
        assert rows(api.get("policy"))["create-issue"]["cap"] == 2
        assert api.post("policy/caps", {"verb": "create-issue", "cap": None})["cap"] == 10
        company.refresh_from_db()
        assert company.action_caps == {}

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"verb": "fly", "cap": 1}, "verb"),
            ({"verb": "assign", "cap": -1}, "cap"),
            ({"verb": "assign", "cap": 501}, "cap"),
            ({"verb": "assign"}, "cap"),
        ],
    )
    def test_what_is_no_cap_is_refused(self, api: Api, company: Company, body: dict[str, Any], field: str) -> None:
        answer = api.post("policy/caps", body)
        assert (answer.status, list(answer["errors"])) == (422, [field])
