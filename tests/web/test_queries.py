"""What a page asks of the database does not grow with the company."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from issues.actors import Person
from issues.models import Comment, Company, Issue, Status
from issues.services.blockers import add_blockers
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from issues.services.issues import set_status
from issues.services.projects import add_labels
from issues.services.reviews import set_reviewers
from tests import build

MOST = 15


@contextmanager
def counted() -> Iterator[list[int]]:
    numbers: list[int] = []
    with CaptureQueriesContext(
        connection,
    ) as queries:
        yield numbers
    numbers.append(len(queries))
    assert len(queries) <= MOST, "\n".join(query["sql"][:200] for query in queries)


def fill(company: Company, count: int) -> None:
    """Issues enough to fill every column, made as rows: services would take a minute."""
    template = Issue.objects.filter(company=company).earliest("pk")
    first = Issue.objects.filter(company=company).latest("number").number + 1
    Issue.objects.bulk_create(
        Issue(
            company=company,
            number=first + index,
            title=f"Work {index}",
            status=[Status.BACKLOG, Status.TODO, Status.IN_PROGRESS, Status.IN_REVIEW, Status.BLOCKED][index % 5],
            priority=index % 5 + 1,
            rank=index * 1_024,
            responsible=template.responsible,
            assignee_agent=template.assignee_agent,
            status_changed_at=template.status_changed_at,
        )
        for index in range(count)
    )


def say(issue: Issue, person: Person, count: int) -> None:
    """Comments enough to fill more than a page, as rows for the same reason."""
    Comment.objects.bulk_create(
        Comment(issue=issue, author_member=person.member, body=f"Comment {number}") for number in range(count)
    )


@pytest.fixture
def crowded(company: Company, founder: Person) -> Issue:
    """An issue that has one of all that an issue can have."""
    agent = build.agent(company, "Cleo", adapter="external")
    parent = build.issue(company, assignee=agent)
    issue = build.issue(company, "Crowded", description="@cleo", assignee=agent, parent=parent, priority=2)
    build.issue(company, parent=issue)
    add_labels(actor=founder, issue=issue, labels=[build.label(company, name) for name in ("bug", "web")])
    add_blockers(actor=founder, issue=build.issue(company), blockers=[issue])
    set_reviewers(actor=founder, issue=issue, reviewers=[build.member_row(founder)])
    worker = build.at_work(agent, issue)
    build.approval(issue, actor=worker)
    write_file(actor=worker, issue=issue, path="a.md", text="x")
    record_finding(actor=worker, issue=issue, title="Found", body="x")
    attach_file(actor=founder, issue=issue, name="a.txt", content=b"x")
    say(issue, founder, 60)
    add_blockers(actor=founder, issue=issue, blockers=[build.issue(company)])
    return issue


ARRANGED = [
    f"{view}/?{query}"
    for view in ("board", "issues")
    for query in ("group=assignee", "group=priority", "group=project", "group=none&sort=due", "sort=changed&text=work")
]


@pytest.mark.parametrize(
    "address",
    ["", "board/", "issues/", "mine/", "inbox/", "approvals/", "runs/", "agents/", "activity/", "search/?q=work"]
    + ARRANGED,
)
def test_a_page_takes_few_queries_whatever_the_number_of_issues(
    address: str, page: Client, company: Company, crowded: Issue
) -> None:
    fill(company, 50)
    with counted() as few:
        assert page.get(f"/acme/{address}").status_code == 200
    fill(company, 450)
    with counted() as many:
        assert page.get(f"/acme/{address}").status_code == 200
    assert few == many


def test_children_below_their_parents_cost_no_query_each(page: Client, company: Company, crowded: Issue) -> None:
    def grow(count: int) -> None:
        for number in range(count):
            parent = build.issue(company, f"Part {number}", parent=crowded)
            build.issue(company, f"Detail {number}", parent=parent)

    grow(1)
    with counted() as few:
        page.get("/acme/issues/?group=none")
    grow(10)
    with counted() as many:
        body = page.get("/acme/issues/?group=none").content.decode()
    assert few == many
    assert body.count('data-depth="3"') == 11


def test_a_filtered_board_takes_few_queries(page: Client, company: Company, crowded: Issue) -> None:
    fill(company, 50)
    label = crowded.labels.first()
    assert label is not None
    with counted():
        page.get(f"/acme/board/?text=work&label={label.pk}&assignee=agents&priority=high&only=blocked")


def test_a_crowded_issue_takes_few_queries(page: Client, company: Company, founder: Person, crowded: Issue) -> None:
    with counted() as few:
        body = page.get(f"/acme/issues/{crowded.identifier}/").content
    assert b"Show earlier entries" in body
    say(crowded, founder, 440)
    fill(company, 450)
    with counted() as many:
        page.get(f"/acme/issues/{crowded.identifier}/")
    assert few == many
    with counted() as unfolded:
        body = page.get(f"/acme/issues/{crowded.identifier}/?since={crowded.created_at:%Y-%m-%dT%H:%MZ}").content
    assert b"Show earlier entries" not in body
    assert unfolded == many


def test_a_run_and_an_agent_take_few_queries(page: Client, company: Company, crowded: Issue) -> None:
    run = crowded.runs.get()
    with counted():
        assert page.get(f"/acme/runs/{run.pk}/").status_code == 200
    with counted():
        assert page.get("/acme/agents/cleo/").status_code == 200


def test_a_board_of_500_issues_is_small_and_holds_at_most_200_cards(
    page: Client, company: Company, crowded: Issue
) -> None:
    import gzip

    fill(company, 500)
    body = page.get("/acme/board/").content
    assert body.count(b"data-card=") <= 200
    assert len(gzip.compress(body)) <= 60_000


def test_a_column_gives_more_when_asked(page: Client, company: Company, crowded: Issue) -> None:
    fill(company, 500)
    before = page.get("/acme/board/").content.count(b"data-card=")
    after = page.get("/acme/board/?more=todo").content.count(b"data-card=")
    assert after > before


def test_the_list_goes_on_where_a_page_ended(page: Client, company: Company, crowded: Issue) -> None:
    import re

    fill(company, 230)
    address, seen = "/acme/issues/?group=none", []
    while address:
        body = page.get(address).content.decode()
        seen += re.findall(r'id="row-(ACME-\d+)"', body)
        following = re.search(r'href="\?([^"]*after=[^"]*)"', body)
        address = f"/acme/issues/?{following[1]}".replace("&amp;", "&") if following else ""
    assert len(seen) == len(set(seen)) == Issue.objects.filter(company=company).count()


def test_many_agents_cost_no_query_each(page: Client, company: Company, ada: Agent, founder: Person) -> None:
    build.issue(company, assignee=ada)
    with counted() as few:
        page.get("/acme/board/")
    for number in range(20):
        build.agent(company, f"Agent {number}")
    with counted() as many:
        page.get("/acme/board/")
    assert few == many


def test_changing_the_status_does_not_hide_the_issue_from_its_list(
    page: Client, company: Company, founder: Person
) -> None:
    issue = build.issue(company, "Guide")
    set_status(actor=founder, issue=issue, status=Status.DONE)
    assert b"Guide" in page.get("/acme/issues/").content
    assert b"Guide" in page.get("/acme/board/").content
