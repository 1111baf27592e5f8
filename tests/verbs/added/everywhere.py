"""Where an added verb is found. Run by `tests/verbs/test_added_verb.py`, with /poke in the registry."""

from __future__ import annotations

from django.test import Client

from engine.actions import parse_agent_actions
from engine.guide import skill
from engine.mcp.registry import BY_NAME as TOOLS
from engine.policy_table import movable_permissions
from engine.reference import verbs_page
from engine.verbs.registry import BY_NAME, VERBS
from engine.workbench import draft_prompt
from issues.models import Grant
from issues.services.policy import change_policy
from tests.api.client import as_person
from tests.verbs.stage import Stage

POKE = BY_NAME["poke"]


def test_poke_is_parsed() -> None:
    assert [action.verb for action in parse_agent_actions("/poke @ada\n/push @ada").actions] == ["poke"]


def test_poke_stands_in_the_prompt_once_introduced(stage: Stage) -> None:
    prompt = draft_prompt(stage.bob, stage.again()).user
    assert prompt.count("- /poke <@handle>: poke a colleague gently\n") == 1


def test_poke_is_not_shown_where_policy_denies_it(stage: Stage) -> None:
    change_policy(actor=stage.owner, company=stage.company, permission=POKE.right, grant=Grant.DENY)
    assert "/poke" not in draft_prompt(stage.bob, stage.again()).user


def test_poke_is_named_among_what_the_board_decides_where_policy_asks(stage: Stage) -> None:
    change_policy(actor=stage.owner, company=stage.company, permission=POKE.right, grant=Grant.APPROVAL)
    you = draft_prompt(stage.bob, stage.again()).user.partition("## Your Assignment")[0]
    assert "/poke" in you


def test_poke_is_explained_by_help(stage: Stage) -> None:
    stage.reply("/help poke")
    assert "You asked about /poke. /poke <@handle>: poke a colleague gently\nGently." in (
        draft_prompt(stage.bob, stage.again()).user
    )


def test_a_rule_of_the_company_can_be_about_poke() -> None:
    assert movable_permissions()["poke"] is POKE.right


def test_the_policy_page_and_the_api_have_a_row_for_poke(stage: Stage) -> None:
    client = Client()
    client.force_login(stage.owner.user)
    page = client.get("/acme/settings/policy/").content.decode()
    assert "<option>poke</option>" in page
    assert "<code>/poke</code>" in page
    (row,) = [row for row in as_person(stage.owner).get("policy")["permissions"] if row["permission"] == "poke"]
    assert (row["own"], row["elsewhere"], row["cap"]) == ("allow", "deny", 2)


def test_poke_stands_on_the_page_of_verbs() -> None:
    page = verbs_page(VERBS)
    assert "[`/poke`](#poke)" in page
    assert "Where: its own issues and the issue at hand." in page.partition("## poke")[2]


def test_poke_is_a_tool_of_outside_agents() -> None:
    tool = TOOLS["poke"]
    assert (
        tool.description
        == "Poke a colleague gently. Gently. At most 2 in one run. Where: its own issues and the issue at hand."
    )
    assert tool.schema["properties"]["args"] == {
        "type": "string",
        "description": "As <@handle>, on one line.",
        "examples": ["@ada"],
    }


def test_poke_stands_in_the_skill_for_outside_agents() -> None:
    assert "- /poke <@handle>: poke a colleague gently\n" in skill("http://here")
