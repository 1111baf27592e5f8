"""The list of runs: what it is filtered by, and what the runs cost together."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from agents.models import ActionOutcome, Agent, Run, RunAction, RunState
from agents.services.runs import cancel_run
from issues.actors import Person
from issues.models import Company
from tests import build


def shown(page: Client, query: str = "") -> list[int]:
    return [int(pk) for pk in re.findall(r'id="run-row-(\d+)"', page.get(f"/acme/runs/?{query}").content.decode())]


@pytest.fixture
def runs(company: Company, founder: Person) -> list[Run]:
    """Three runs that ended, and one at work."""
    made = []
    for number in range(4):
        agent = build.agent(company, f"Agent {number}", handle=f"agent{number}", adapter="external")
        issue = build.issue(company, assignee=agent)
        if number == 1:
            build.comment(issue, "@agent1 look")
        worker = build.at_work(agent, issue)
        assert worker.run is not None
        if number < 3:
            cancel_run(actor=founder, run=worker.run)
        made.append(worker.run)
    costs = [(0, 5_000, ""), (1, 2_000_000, "network"), (2, None, "lost")]
    for index, cost, error in costs:
        Run.objects.filter(pk=made[index].pk).update(
            state=RunState.SUCCEEDED, cost_microdollars=cost, error_kind=error, input_tokens=100, output_tokens=10
        )
    for ordinal, outcome in enumerate((ActionOutcome.APPLIED, ActionOutcome.DENIED)):
        RunAction.objects.create(run=made[0], ordinal=ordinal, line=1, verb="status", outcome=outcome)
    return made


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", [3, 2, 1, 0]),
        ("state=succeeded", [2, 1, 0]),
        ("state=queued", []),
        ("issue=ACME-2", [1]),
        ("issue=2", [1]),
        ("issue=ACME-99", []),
        ("source=mention", [1]),
        ("error=any", [2, 1]),
        ("error=network", [1]),
        ("cost=0.01", [1]),
        ("cost=10", []),
        ("cost=unpriced", [3, 2]),
        ("only=denied", [0]),
        ("only=unchanged", [2, 1]),
        ("error=any&cost=1", [1]),
        ("agent=x&issue=y&state=z&source=w&error=v&cost=nan&only=t", [3, 2, 1, 0]),
    ],
)
def test_each_filter_leaves_out_what_does_not_fit(query: str, wanted: list[int], page: Client, runs: list[Run]) -> None:
    assert shown(page, query) == [runs[index].pk for index in wanted]


def test_runs_are_filtered_by_their_agent(page: Client, runs: list[Run]) -> None:
    assert shown(page, f"agent={runs[2].agent_id}") == [runs[2].pk]


def test_totals_are_those_of_the_runs_that_are_chosen(page: Client, runs: list[Run]) -> None:
    assert b"3 runs \xc2\xb7 330 tokens \xc2\xb7 $2.00" in page.get("/acme/runs/?state=succeeded").content
    assert b"1 run \xc2\xb7 110 tokens \xc2\xb7 $0.0050" in page.get("/acme/runs/?only=denied").content


def test_what_is_filtered_is_a_chip_that_takes_it_off(page: Client, runs: list[Run]) -> None:
    body = page.get("/acme/runs/?error=network&cost=1").content.decode()
    assert 'href="/acme/runs/?cost=1" aria-label="Without Error: Provider not reached"' in body


def test_another_companys_runs_are_not_among_them(page: Client, company: Company, ada: Agent) -> None:
    other, owner = build.company_with_founder("OTHER")
    agent = build.agent(other, "Theirs", adapter="external")
    build.at_work(agent, build.issue(other, assignee=agent))
    assert shown(page) == []
    assert shown(page, f"agent={agent.pk}") == []
