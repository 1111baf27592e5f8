"""Lists come in pages that neither skip nor repeat, in the same number of queries however long they are."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Agent
from agents.services.routines import fire_routine_now
from agents.services.wakeups import run_heartbeat
from issues.actors import Person
from issues.models import Company, Issue, WorkspaceFile
from issues.services.comments import write_comment
from issues.services.files import write_file
from tests import build
from tests.api.client import Api

LISTS = [
    ("issues", {}),
    ("issues", {"order": "number"}),
    ("issues", {"order": "updated"}),
    ("issues", {"order": "created"}),
    ("search", {"q": "work"}),
    ("issues/ACME-1/children", {}),
    ("issues/ACME-1/blockers", {}),
    ("issues/ACME-1/comments", {}),
    ("issues/ACME-1/comments", {"order": "newest"}),
    ("issues/ACME-1/activity", {}),
    ("issues/ACME-1/attachments", {}),
    ("issues/ACME-1/findings", {}),
    ("issues/ACME-1/runs", {}),
    ("issues/ACME-1/wakeups", {}),
    ("activity", {}),
    ("agents", {}),
    ("approvals", {}),
    ("companies", {}),
    ("keys", {}),
    ("budgets", {}),
    ("files/FILE/versions", {}),
    ("findings", {}),
    ("issues/ACME-1/files", {}),
    ("labels", {}),
    ("members", {}),
    ("projects", {}),
    ("routines", {}),
    ("routines/ROUTINE/fires", {}),
    ("runs", {}),
    ("skills", {}),
    ("views", {}),
    ("wakeups", {}),
]


def fill(company: Company, count: int) -> None:
    """Some of everything that is listed, each with everything that a row can show."""
    from issues.services.blockers import add_blockers
    from issues.services.files import attach_file
    from issues.services.findings import record_finding
    from issues.services.keys import create_agent_key

    owner = build.owner_of(company)
    top = company.issues.filter(number=1).first() or build.issue(company, "Work itself")
    for number in range(company.issues.count(), company.issues.count() + count):
        agent = build.agent(company, f"Agent {number}", adapter="external", instructions="Long. " * 100)
        label, project = build.label(company, f"label {number}"), build.project(company, f"Project {number}")
        child = build.issue(
            company, f"Work {number}", assignee=agent, labels=[label], project=project, parent=top, priority=3
        )
        add_blockers(actor=owner, issue=top, blockers=[child])
        worker = build.at_work(agent, child)
        record_finding(actor=worker, issue=child, body="Found.")
        write_comment(actor=worker, issue=top, body="Said.")
        build.approval(child, actor=worker)
        build.skill(company, f"Skill {number}")
        build.saved_view(company, f"View {number}")
        at_top = replace(worker, home=top, owns_home=True)
        write_file(actor=at_top, issue=top, path=f"{number}.md", text="It is written.")
        write_file(actor=at_top, issue=top, path="all.md", text=f"By {number}.")
        build.routine(company, agent, project=project)
        fire_routine_now(actor=owner, routine=company.routines.earliest("pk"))
        build.member(company)
        build.comment(top)
        attach_file(actor=owner, issue=top, name=f"{number}.txt", content=b"text")
        run_heartbeat(actor=owner, agent=agent, issue=top)
        create_agent_key(actor=owner, agent=agent)


@pytest.mark.parametrize(("path", "query"), LISTS, ids=[f"{path} {query}" for path, query in LISTS])
def test_a_list_takes_as_many_queries_for_one_row_as_for_many(
    api: Api, company: Company, path: str, query: dict[str, Any]
) -> None:
    fill(company, 2)
    file, routine = WorkspaceFile.objects.get(path="all.md"), company.routines.earliest("pk")
    path = path.replace("FILE", f"{file.pk}").replace("ROUTINE", f"{routine.pk}")
    few, rows = _queries(lambda: api.get(path, **query, limit=200))
    fill(company, 4)
    many, more = _queries(lambda: api.get(path, **query, limit=200))
    if path not in ("companies", "issues/ACME-1/findings", "issues/ACME-1/runs"):
        assert len(more) > len(rows) > 0
    assert many <= few <= 8


def test_an_issue_is_read_in_as_many_queries_whatever_hangs_on_it(api: Api, company: Company) -> None:
    fill(company, 1)
    few, _ = _queries(lambda: api.get("issues/ACME-1"))
    fill(company, 4)
    many, _ = _queries(lambda: api.get("issues/ACME-1"))
    assert many <= few <= 7


@pytest.mark.parametrize("order", ["work", "number", "updated", "created"])
def test_a_walk_meets_each_issue_once_in_order(api: Api, company: Company, order: str) -> None:
    for number in range(23):
        build.issue(company, priority=1 + number % 3)
    one_day = timezone.now() - datetime.timedelta(days=1)
    Issue.objects.filter(number__lte=9).update(updated_at=one_day)  # equal values of the first column
    Issue.objects.update(rank=0)

    walked = api.walk("issues", order=order, limit=4)

    assert sorted(row["identifier"] for row in walked) == sorted(f"ACME-{number}" for number in range(1, 24))
    assert walked == api.get("issues", order=order, limit=100).rows


def test_a_walk_survives_rows_that_come_and_go(api: Api, company: Company) -> None:
    for _ in range(6):
        build.issue(company)
    first = api.get("issues", order="number", limit=3)
    api.delete("issues/ACME-2")
    api.delete("issues/ACME-3")
    build.issue(company)
    rest = api.client.get(first["next"].removeprefix("http://testserver")).json()["results"]
    assert [row["identifier"] for row in rest] == ["ACME-4", "ACME-5", "ACME-6"]


def test_the_next_link_keeps_the_filters(api: Api, company: Company) -> None:
    for _ in range(3):
        build.issue(company, priority=1)
        build.issue(company, priority=2)
    assert {row["priority"] for row in api.walk("issues", priority="high", limit=2)} == {"high"}


def test_the_last_page_has_no_next(api: Api, company: Company) -> None:
    for _ in range(4):
        build.issue(company)
    assert api.get("issues", limit=4)["next"] is None
    assert api.get("issues", limit=3)["next"] is not None


def test_rows_are_thin(api: Api, company: Company, ada: Agent, founder: Person) -> None:
    build.issue(company, "Work", description="x" * 60_000, assignee=ada)
    assert len(str(api.get("issues").rows[0])) < 700
    assert "description" not in api.get("issues").rows[0]


def _queries(call: Callable[[], Any]) -> tuple[int, list[Any]]:
    call()  # what is asked once a minute or a process is asked here
    with CaptureQueriesContext(connection) as captured:
        answer = call()
    assert answer.status == 200
    return len(captured), answer.body.get("results", [])


def test_of_wide_rows_the_fields_that_are_wanted_come_alone(api: Api, company: Company) -> None:
    issue = build.issue(company)
    for number in range(3):
        build.comment(issue, f"Word {number}")
    rows = api.walk("issues/ACME-1/comments", fields="id,created_at", limit=2)
    assert [sorted(row) for row in rows] == [["created_at", "id"]] * 3
    refused = api.get("issues/ACME-1/comments", fields="id,nonsense")
    assert (refused.status, list(refused["errors"])) == (422, ["fields"])
    assert api.get("findings", fields="title").status == 200
    assert api.get("labels", fields="name").status == 422
