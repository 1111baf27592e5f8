"""The list of agents, their reporting line, and their instructions over time."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from agents.services.agents import edit_agent, pause_agent, terminate_agent
from issues.actors import Person
from issues.models import Company, Role
from tests import build
from tests.web.test_access import Browse


def names(page: Client, query: str = "") -> list[str]:
    body = page.get(f"/acme/agents/{query}").content.decode()
    return re.findall(r'<a class="title clip"[^>]*>([^<]*)</a>', body)


@pytest.fixture
def crew(company: Company, founder: Person) -> None:
    build.agent(company, "Ada", title="Backend engineer")
    pause_agent(actor=founder, agent=build.agent(company, "Bob", role="writer"))
    terminate_agent(actor=founder, agent=build.agent(company, "Cleo"))
    busy = build.agent(company, "Dora", description="Keeps the books.")
    build.at_work(busy, build.issue(company, assignee=busy))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["Ada", "Bob", "Dora"]),
        ("?text=ENGINEER+backend", ["Ada"]),
        ("?text=@bob", ["Bob"]),
        ("?text=books", ["Dora"]),
        ("?text=zebra", []),
        ("?state=running", ["Dora"]),
        ("?state=paused", ["Bob"]),
        ("?state=terminated", ["Cleo"]),
        ("?state=running&text=ada", []),
        ("?state=nonsense", ["Ada", "Bob", "Dora"]),
    ],
)
def test_agents_are_found_by_words_and_state(page: Client, crew: None, query: str, found: list[str]) -> None:
    assert names(page, query) == found


def test_the_reporting_line_folds(page: Client, company: Company) -> None:
    top = build.agent(company, "Top")
    middle = build.agent(company, "Middle", manager=top)
    build.agent(company, "Low", manager=middle)
    body = page.get("/acme/agents/").content.decode()
    assert re.findall(r'<details class="fold" open><summary .*?class="unseen"> to (\w+)<', body) == [
        "Top",
        "Middle",
    ]


def test_a_long_reporting_line_begins_folded_below_the_first_level(page: Client, company: Company) -> None:
    top = build.agent(company, "Top")
    middle = build.agent(company, "Middle", manager=top)
    for number in range(40):
        build.agent(company, f"Low {number}", manager=middle)
    body = page.get("/acme/agents/").content.decode()
    assert re.findall(r'<details class="fold"( open)?><summary .*?class="unseen"> to (\w+)<', body) == [
        (" open", "Top"),
        ("", "Middle"),
    ]


class TestInstructions:
    def test_are_shown_over_time_with_what_each_saving_changed(
        self, page: Client, company: Company, founder: Person
    ) -> None:
        agent = build.agent(company, "Cleo", instructions="Be brief.\nAlways.")
        edit_agent(actor=build.member(company, "boss"), agent=agent, instructions="Be kind.\nAlways.")
        assert 'href="/acme/agents/cleo/instructions/"' in page.get("/acme/agents/cleo/").content.decode()
        body = page.get("/acme/agents/cleo/instructions/").content.decode()
        assert "Version 2, current" in body
        assert "Boss, " in body
        assert '<span class="removed">-Be brief.</span>' in body
        assert '<span class="added">+Be kind.</span>' in body

    def test_an_older_one_is_restored_as_a_new_version(self, page: Client, company: Company, founder: Person) -> None:
        agent = build.agent(company, "Cleo", instructions="Be brief.")
        edit_agent(actor=founder, agent=agent, instructions="Be kind.")
        page.post("/acme/agents/cleo/instructions/", {"version": "1"})
        agent.refresh_from_db()
        assert agent.instructions == "Be brief."
        assert list(agent.instructions_versions.order_by("number").values_list("text", flat=True)) == [
            "Be brief.",
            "Be kind.",
            "Be brief.",
        ]

    @pytest.mark.parametrize("version", ["", "0", "99", "x", "9" * 30, "²"])
    def test_a_version_that_is_not_there_is_refused(self, page: Client, company: Company, version: str) -> None:
        build.agent(company, "Cleo", instructions="Be brief.")
        assert page.post("/acme/agents/cleo/instructions/", {"version": version}).status_code == 422

    def test_a_viewer_reads_them_and_restores_nothing(self, company: Company, founder: Person, browse: Browse) -> None:
        agent = build.agent(company, "Cleo", instructions="Be brief.")
        edit_agent(actor=founder, agent=agent, instructions="Be kind.")
        viewer = browse(build.member(company, role=Role.VIEWER))
        assert "Restore" not in viewer.get("/acme/agents/cleo/instructions/").content.decode()
        assert viewer.post("/acme/agents/cleo/instructions/", {"version": "1"}).status_code == 403


def test_an_agent_is_changed_as_the_form_says_or_not_at_all(page: Client, company: Company) -> None:
    boss = build.agent(company, "Boss")
    report = build.agent(company, "Report", manager=boss)
    answer = page.post("/acme/agents/boss/edit/", {"name": "Renamed", "manager": report.pk})
    assert answer.status_code == 422
    boss.refresh_from_db()
    assert (boss.name, boss.manager) == ("Boss", None)
