"""Two runs beside each other, from runs that really were."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from agents.models import Agent, Run
from agents.services.agents import edit_agent
from issues.actors import Person
from issues.models import Company, Issue
from tests import build
from tests.engine.running import run_next, scripted
from tests.web.test_pages import text_of
from tests.web.test_queries import counted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def issue(company: Company) -> Issue:
    agent = scripted(company, "Cleo", "Noted.")
    return build.issue(company, "Write the guide", assignee=agent, description="Two pages.")


@pytest.fixture
def first(issue: Issue) -> Run:
    return run_next()


@pytest.fixture
def second(issue: Issue, first: Run, founder: Person) -> Run:
    edit_agent(actor=founder, agent=Agent.objects.get(handle="cleo"), instructions="Write short sentences.")
    build.comment(issue, "Three pages <b>rather</b>.")
    return run_next()


def compared(page: Client, run: Run, query: str = "") -> str:
    answer = page.get(f"/acme/runs/{run.pk}/compare/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def fact(body: str, name: str) -> list[str]:
    """The cells of a fact: before, after, and whether it changed."""
    row = re.search(rf'<th scope="row">{name}</th>(.*?)</tr>', body, re.DOTALL)
    assert row is not None, name
    return [text_of(cell.encode()) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row[1], re.DOTALL)]


def test_a_run_is_compared_with_the_agents_run_before_on_the_issue(page: Client, first: Run, second: Run) -> None:
    body = compared(page, second)
    assert f"From the prompt of run {first.pk} to that of run {second.pk}" in body
    assert '<span class="added">+ &gt; Three pages &lt;b&gt;rather&lt;/b&gt;.</span>' in body
    assert re.search(r"Contract</span>.{0,60}<span class=\"size\">The same, [\d,]+ bytes", body, re.DOTALL)
    assert "Write short sentences." in body


def test_what_changed_behind_the_prompt_is_named(page: Client, first: Run, second: Run) -> None:
    body = compared(page, second)
    before, after, word = fact(body, "Instructions")
    assert (before, after, word) == (first.instructions_hash[:8], second.instructions_hash[:8], "Changed")
    assert fact(body, "Skills")[2] == fact(body, "Contract")[2] == "The same"
    assert "after Contract" in fact(body, "Cache breakpoints")[1]
    assert f"{second.prompt_facts['tokens']:,}" in fact(body, "Tokens of the prompt")[1]


def test_what_was_read_from_a_cache_is_told_of_both(page: Client, first: Run, second: Run) -> None:
    Run.objects.filter(pk=second.pk).update(input_tokens=4_000, cached_tokens=3_000)
    assert fact(compared(page, second), "Read from the cache")[1] == "3,000 of 4,000 tokens, 75%"


def test_a_section_without_room_is_not_said_to_be_gone(page: Client, first: Run, second: Run) -> None:
    left = [part for part in second.prompt_sections if part["title"] != "Description"]
    second.prompt_sections = [*left, {"title": "Description", "message": "user", "is_deferred": True}]
    second.prompt_facts["deferred"] = ["Description"]
    second.save()
    body = compared(page, second, f"?with={first.pk}")
    words = text_of(body.encode())
    assert f"Description No room in run {second.pk}" in words
    assert fact(body, "Left out for want of room") == ["nothing", "Description", "Changed"]


def test_any_other_run_can_be_named_and_no_other_companys(page: Client, first: Run, second: Run) -> None:
    body = compared(page, first, f"?with={second.pk}")
    assert '<span class="removed">− &gt; Three pages &lt;b&gt;rather&lt;/b&gt;.</span>' in body
    other, _ = build.company_with_founder("OTHER")
    agent = build.agent(other, "Zoe", adapter="external")
    foreign = build.at_work(agent, build.issue(other, assignee=agent)).run
    assert foreign is not None
    for wanted, status, said in (
        (foreign.pk, 404, f"There is no run {foreign.pk}."),
        ("soon", 422, "A run is named by its number."),
        ("9" * 40, 422, "A run is named by its number."),
    ):
        answer = page.get(f"/acme/runs/{second.pk}/compare/", {"with": str(wanted)})
        assert answer.status_code == status
        assert said in answer.content.decode()


def test_the_first_run_has_nothing_before_it(page: Client, first: Run) -> None:
    assert "was shown nothing here before this run" in compared(page, first)


def test_a_prompt_that_was_dropped_leaves_the_facts(page: Client, first: Run, second: Run) -> None:
    Run.objects.filter(pk=first.pk).update(system_message="", user_message="", prompt_sections=[])
    body = compared(page, second)
    assert f"The prompt of run {first.pk} was dropped when it grew old" in body
    assert fact(body, "Instructions")[2] == "Changed"
    assert "section-row" not in body


def test_a_run_page_says_what_changed_since_and_leads_there(page: Client, first: Run, second: Run) -> None:
    body = page.get(f"/acme/runs/{second.pk}/").content
    assert f"Since run {first.pk} the instructions changed." in text_of(body)
    assert f'action="/acme/runs/{second.pk}/compare/"'.encode() in body
    assert b"cache to" in body
    assert "first prompt on this issue" in text_of(page.get(f"/acme/runs/{first.pk}/").content)


def test_both_pages_take_few_queries(page: Client, first: Run, second: Run) -> None:
    with counted():
        compared(page, second)
    with counted():
        page.get(f"/acme/runs/{second.pk}/")
