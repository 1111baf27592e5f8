"""What outside agents are told."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from django.test import Client

from engine.guide import instructions, skill
from engine.mcp.registry import BY_NAME
from engine.text.contract import CONTRACT
from engine.verbs.registry import VERBS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "skill.md"
LONGEST = f"https://{'trimus.' * 36}example:65535"
MOST_BYTES = 6_000


def test_the_skill_opens_with_the_contract_of_every_prompt_and_names_every_verb() -> None:
    _, front, body = skill("http://here").split("---\n", 2)
    assert yaml.safe_load(front)["name"] == "trimus"
    assert body.startswith(f"\n{CONTRACT}\n")
    assert all(f"- {verb.usage}" in body for verb in VERBS)


def test_the_skill_stays_small_under_the_longest_of_addresses() -> None:
    assert len(skill(LONGEST).encode()) < MOST_BYTES


def test_instructions_of_the_tools_open_with_the_same_and_name_tools_that_there_are() -> None:
    told = instructions()
    assert told.startswith(CONTRACT)
    named = {word.strip("`") for word in told.split() if word.startswith("`") and "_" in word}
    assert {word.rstrip("`,.;:") for word in named} <= BY_NAME.keys()


def test_the_page_of_the_documentation_is_the_skill() -> None:
    assert PAGE.read_text() == skill("http://127.0.0.1:8000"), "`make docs` writes it anew"


@pytest.mark.django_db
def test_anybody_reads_it_with_the_address_it_was_asked_at() -> None:
    answer = Client().get("/skill.md", headers={"Host": "localhost:8123"})
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.content.decode() == skill("http://localhost:8123")
