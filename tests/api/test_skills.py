"""Skills by the API."""

from __future__ import annotations

from agents.models import Agent, Skill
from issues.models import Company, Role
from tests import build
from tests.api.client import Api, as_person

PRUNING = {"name": "Pruning", "body": "    Cut above a bud.", "description": "When leaves fall."}


def test_a_skill_is_added_for_some_changed_and_turned_off(api: Api, company: Company, ada: Agent, ada_api: Api) -> None:
    build.agent(company, "Bob")
    made = api.post("skills", PRUNING | {"agents": ["bob"]})
    assert (made.status, made["agents"], made["body"]) == (201, ["bob"], PRUNING["body"])
    at = f"skills/{made['id']}"
    assert ada_api.get(at).status == 404
    assert api.patch(at, {"agents": ["bob", "@ada"]})["agents"] == ["ada", "bob"]
    assert ada_api.get(at)["body"] == PRUNING["body"]
    assert api.patch(at, {"enabled": False})["enabled"] is False
    assert ada_api.get(at).status == 404
    assert api.patch(at, {"enabled": True, "agents": []})["agents"] == []
    assert [row["name"] for row in ada_api.get("skills").rows] == ["Pruning"]


def test_a_name_is_one_skills(api: Api, company: Company) -> None:
    build.skill(company, "Pruning")
    assert api.post("skills", PRUNING | {"name": "pruning"}).status == 409


def test_it_is_for_agents_of_the_company(api: Api, company: Company) -> None:
    for named in (["acme-founder"], ["nobody"], "ada"):
        assert api.post("skills", PRUNING | {"agents": named}).status == 422
    assert not Skill.objects.exists()


def test_viewers_read_and_agents_propose(company: Company, ada_api: Api) -> None:
    skill = build.skill(company)
    for theirs in (as_person(build.member(company, role=Role.VIEWER)), ada_api):
        assert theirs.post("skills", PRUNING).status == 403
        assert theirs.patch(f"skills/{skill.pk}", {"enabled": False}).status == 403
        assert theirs.get(f"skills/{skill.pk}").status == 200
