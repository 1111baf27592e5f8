"""Costs, the figures on the home page, and the first steps."""

from __future__ import annotations

import datetime

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, ModelCall, Run
from issues.actors import Person
from issues.charts import draw
from issues.models import Company, Issue
from issues.services.projects import create_project
from tests import build
from tests.web.test_pages import text_of
from tests.web.test_queries import counted


def call(run: Run, *, cost: int | None, tokens: int = 1_000, model: str = "gpt-4.1", days_ago: int = 0) -> ModelCall:
    """A call as the engine writes one."""
    return ModelCall.objects.create(
        company=run.company,
        run=run,
        provider="openai",
        model=model,
        input_tokens=tokens,
        cost_microdollars=cost,
        started_at=timezone.now() - datetime.timedelta(days=days_ago),
    )


@pytest.fixture
def run(company: Company, founder: Person) -> Run:
    agent = build.agent(company, "Cleo", adapter="external")
    project = create_project(actor=founder, company=company, name="Launch")
    made = build.at_work(agent, build.issue(company, "Write the guide", assignee=agent, project=project)).run
    assert made is not None
    return made


def test_costs_are_told_by_agent_model_project_issue_and_day(page: Client, run: Run) -> None:
    call(run, cost=1_500_000)
    call(run, cost=500_000, model="gpt-5")
    said = text_of(page.get("/acme/costs/").content)
    for words in ("Spent $2.00", "Cleo 2,000 $2.00", "gpt-5 1,000 $0.5000", "Launch 2,000 $2.00"):
        assert words in said, words
    assert "ACME-1 Write the guide 2,000 $2.00" in said


def test_what_has_no_known_price_is_unpriced_and_never_free(page: Client, run: Run) -> None:
    call(run, cost=None, model="tiny")
    said = text_of(page.get("/acme/costs/").content)
    assert "Spent unpriced" in said
    assert "tiny 1,000 unpriced" in said
    assert "in tokens: no price is known" in said


def test_the_chart_has_a_column_for_each_day_and_a_table_with_the_same_figures(page: Client, run: Run) -> None:
    call(run, cost=1_000_000)
    body = page.get("/acme/costs/").content.decode()
    today = datetime.datetime.now(datetime.UTC).day
    chart = body.split('class="chart"')[1].split("</svg>")[0]
    assert chart.count("<rect") == today
    assert chart.count('class="bar"') == 1
    assert "$1.00" in body.split("The same as a table")[1].split("</table>")[0]


def test_a_month_is_chosen_by_the_address_and_nonsense_is_the_present_one(page: Client, run: Run) -> None:
    call(run, cost=1_000_000)
    call(run, cost=7_000_000, days_ago=40)
    month = (timezone.now() - datetime.timedelta(days=40)).astimezone(datetime.UTC)
    assert "Spent $7.00" in text_of(page.get(f"/acme/costs/?month={month:%Y-%m}").content)
    for word in ("x", "2026-13", "9999-01", "0001-01"):
        assert "Spent $1.00" in text_of(page.get(f"/acme/costs/?month={word}").content)
    assert "Nothing was spent in" in text_of(page.get("/acme/costs/?month=2020-02").content)


def test_home_draws_runs_and_spending_of_two_weeks(page: Client, run: Run) -> None:
    call(run, cost=1_250_000)
    call(run, cost=5_000_000, days_ago=30)
    said = text_of(page.get("/acme/").content)
    assert "Spent $1.25" in said
    assert "Runs 1" in said
    assert page.get("/acme/").content.decode().count('class="chart"') == 2


def test_pages_with_figures_and_settings_take_few_queries(page: Client, run: Run, company: Company) -> None:
    call(run, cost=1)
    addresses = [
        "", "costs/", "start/", "projects/", "labels/", "findings/", "skills/", "routines/", "settings/",
        "settings/members/", "settings/keys/", "settings/policy/", "settings/models/", "settings/budgets/", "profile/",
    ]  # fmt: skip
    few: dict[str, list[int]] = {}
    for address in addresses:
        with counted() as few[address]:
            assert page.get(f"/acme/{address}").status_code == 200
    for number in range(10):
        agent = build.agent(company, f"Agent {number}")
        build.project(company, f"Project {number}")
        build.label(company, f"label {number}")
        build.skill(company, f"Skill {number}", agents=[agent])
        build.routine(company, agent)
        build.member(company)
        call(run, cost=1, model=f"model {number}")
    for address in addresses:
        with counted() as many:
            page.get(f"/acme/{address}")
        assert many[0] <= few[address][0] + 2, address  # where there was nothing to look up and nobody to name


def test_the_first_steps_lead_from_nothing_to_an_issue_that_an_agent_is_woken_for(
    page: Client, company: Company
) -> None:
    assert "See an agent at work" in text_of(page.get("/acme/").content)
    assert "Hire Robin" in text_of(page.get("/acme/start/").content)
    page.post("/acme/start/agent/")
    robin = Agent.objects.get()
    assert robin.is_scripted
    assert "Open “Say hello”" in text_of(page.get("/acme/start/").content)
    answer = page.post("/acme/start/issue/")
    issue = Issue.objects.get()
    assert answer.headers["Location"] == f"/acme/issues/{issue.identifier}/"
    assert issue.assignee_agent == robin
    assert len(build.pending(robin, issue)) == 1


def test_with_a_run_the_steps_are_done_and_home_offers_them_no_more(page: Client, run: Run) -> None:
    assert "See an agent at work" not in text_of(page.get("/acme/").content)
    said = text_of(page.get("/acme/start/").content)
    assert f"Open run {run.pk}" in said
    assert "From here" in said


def test_each_step_can_be_skipped(page: Client, company: Company) -> None:
    for step in (1, 2):
        assert f"?step={step + 1}" in page.get(f"/acme/start/?step={step}").content.decode()


def test_an_issue_cannot_be_given_to_nobody(page: Client, company: Company) -> None:
    assert page.post("/acme/start/issue/").status_code == 409


def test_columns_stand_on_the_ground_and_the_smallest_is_seen() -> None:
    chart = draw([("a", 0), ("b", 1), ("c", 1_000_000)], width=30, height=10)
    assert [column.height for column in chart.columns] == [0.0, 1.5, 10.0]
    assert all(column.y + column.height == 10 for column in chart.columns)
    assert (chart.total, chart.highest) == (1_000_001, 1_000_000)
    assert draw([]).columns == ()
