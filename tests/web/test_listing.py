"""Board and list: what they are sorted into, what is filtered, and children below their parents."""

from __future__ import annotations

import datetime
import re

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from issues.actors import Person
from issues.models import Company, Issue, Priority, Status
from issues.services.issues import assign_issue
from tests import build


def shown(page: Client, address: str) -> list[str]:
    """Titles on the page in their order."""
    body = page.get(address).content.decode()
    return re.findall(r'<a class="title"[^>]*>([^<]*)</a>', body)


def groups(page: Client, address: str) -> list[tuple[str, list[str]]]:
    """Each group or column with the titles in it."""
    body = page.get(address).content.decode().split('id="main"')[1]
    parts = re.split(r'<(?:details class="fold" open id="group|section class="column" id="column)-', body)[1:]
    return [(part.split('"')[0], re.findall(r'<a class="title"[^>]*>([^<]*)</a>', part)) for part in parts]


@pytest.fixture
def launch(company: Company, founder: Person, ada: Agent) -> dict[str, Issue]:
    """Four issues that differ in all that a list can be grouped by."""
    project = build.project(company, "Launch")
    fields = {
        "Urgent": {"priority": Priority.URGENT, "assignee": ada, "status": Status.BACKLOG, "project": project},
        "Mine": {"assignee": build.member_row(founder), "status": Status.IN_PROGRESS},
        "Nobody's": {"priority": Priority.LOW, "status": Status.TODO},
        "Done": {"assignee": ada, "status": Status.DONE, "project": project},
    }
    return {title: build.issue(company, title, **values) for title, values in fields.items()}


def test_the_list_is_grouped_by_status_with_counts(page: Client, launch: dict[str, Issue]) -> None:
    assert groups(page, "/acme/issues/") == [
        ("backlog", ["Urgent"]), ("todo", ["Nobody&#x27;s"]), ("in_progress", ["Mine"]), ("done", ["Done"])
    ]  # fmt: skip
    body = page.get("/acme/issues/").content.decode()
    assert re.search(r'<span>Backlog</span><span class="faint number small">1</span>', body)


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("priority", [["Urgent"], ["Nobody&#x27;s"], ["Mine", "Done"]]),
        ("assignee", [["Mine"], ["Urgent", "Done"], ["Nobody&#x27;s"]]),
        ("project", [["Urgent", "Done"], ["Nobody&#x27;s", "Mine"]]),
    ],
)
def test_board_and_list_are_grouped_by_anything_else(
    by: str, wanted: list[list[str]], page: Client, launch: dict[str, Issue]
) -> None:
    assert [titles for _, titles in groups(page, f"/acme/issues/?group={by}")] == wanted
    assert [titles for _, titles in groups(page, f"/acme/board/?group={by}") if titles] == wanted


def test_the_board_has_a_column_to_move_into_for_whom_nothing_is_assigned(page: Client, company: Company) -> None:
    build.agent(company, "Idle")
    build.issue(company, "One")
    keys = [key for key, _ in groups(page, "/acme/board/?group=assignee")]
    assert [key.partition(":")[0] for key in keys] == ["member", "agent", "none"]


def test_of_many_agents_only_those_with_issues_have_a_column(page: Client, company: Company) -> None:
    busy = [build.agent(company, f"Agent {number}") for number in range(13)][0]
    build.issue(company, "One", assignee=busy)
    assert groups(page, "/acme/board/?group=assignee") == [(f"agent:{busy.pk}", ["One"])]


@pytest.mark.parametrize(
    ("by", "to", "field", "value"),
    [
        ("assignee", "me", "assignee_member", "founder"),
        ("assignee", "none", "assignee_agent", None),
        ("priority", "high", "priority", Priority.HIGH),
        ("priority", "none", "priority", Priority.NONE),
        ("project", "none", "project", None),
        ("status", "in_review", "status", "in_review"),
    ],
)
def test_a_card_moved_across_gets_what_its_column_stands_for(
    by: str,
    to: str,
    field: str,
    value: object,
    page: Client,
    company: Company,
    founder: Person,
    launch: dict[str, Issue],
) -> None:
    issue = launch["Urgent"]
    assert page.post(f"/acme/issues/{issue.identifier}/move/", {"by": by, "to": to}).status_code == 302
    issue.refresh_from_db()
    assert getattr(issue, field) == (build.member_row(founder) if value == "founder" else value)


def test_a_card_is_moved_into_a_project(page: Client, launch: dict[str, Issue]) -> None:
    issue, project = launch["Mine"], launch["Urgent"].project
    assert project is not None
    page.post(f"/acme/issues/{issue.identifier}/move/", {"by": "project", "to": str(project.pk)})
    issue.refresh_from_db()
    assert issue.project == project


def test_a_move_to_what_is_not_there_is_refused(page: Client, launch: dict[str, Issue]) -> None:
    for by, to in (("assignee", "agent:999"), ("project", "999"), ("priority", "x"), ("status", "x"), ("moon", "x")):
        assert page.post("/acme/issues/ACME-1/move/", {"by": by, "to": to}).status_code == 422, by


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ("", ["C", "B", "A"]),
        ("opened", ["C", "B", "A"]),
        ("changed", ["B", "C", "A"]),
        ("due", ["A", "B", "C"]),
        ("title", ["A", "B", "C"]),
        ("nonsense", ["C", "B", "A"]),
    ],
)
def test_the_list_is_sorted_and_its_pages_go_on_in_that_order(
    sort: str, wanted: list[str], page: Client, company: Company, founder: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = timezone.localdate()
    build.issue(company, "A", due_date=today, priority=Priority.LOW)
    second = build.issue(company, "B", due_date=today + datetime.timedelta(days=1), priority=Priority.HIGH)
    build.issue(company, "C", priority=Priority.URGENT)
    assign_issue(actor=founder, issue=second, assignee=build.member_row(founder))
    assert shown(page, f"/acme/issues/?group=none&sort={sort}") == wanted
    monkeypatch.setattr("issues.views.listing.ROWS", 1)
    walked, address = [], f"/acme/issues/?group=none&sort={sort}"
    while address:
        walked += shown(page, address)
        following = re.search(r'href="(\?[^"]*after=[^"]*)"', page.get(address).content.decode())
        address = f"/acme/issues/{following[1]}".replace("&amp;", "&") if following else ""
    assert walked == wanted


def test_children_stand_below_their_parent_with_all_their_depths(page: Client, company: Company) -> None:
    parent = build.issue(company, "Parent", priority=Priority.LOW)
    child = build.issue(company, "Child", parent=parent)
    build.issue(company, "Grandchild", parent=child)
    build.issue(company, "Other", priority=Priority.MEDIUM)
    body = page.get("/acme/issues/").content.decode()
    found = re.findall(r'data-depth="(\d)">.*?<a class="title"[^>]*>([^<]*)</a>', body, re.DOTALL)
    assert found == [("0", "Other"), ("0", "Parent"), ("1", "Child"), ("2", "Grandchild")]
    assert body.count("data-fold") == 2


def test_a_child_of_another_group_or_whose_parent_is_not_chosen_stands_by_itself(
    page: Client, company: Company, ada: Agent
) -> None:
    parent = build.issue(company, "Parent")
    build.issue(company, "Elsewhere", parent=parent, status=Status.IN_REVIEW)
    build.issue(company, "Hers", parent=parent, assignee=ada, status=Status.BACKLOG)
    assert groups(page, "/acme/issues/") == [("backlog", ["Hers"]), ("todo", ["Parent"]), ("in_review", ["Elsewhere"])]
    assert shown(page, f"/acme/issues/?assignee=agent:{ada.pk}") == ["Hers"]
    assert groups(page, "/acme/issues/?group=assignee") == [
        (f"agent:{ada.pk}", ["Hers"]), ("none", ["Parent", "Elsewhere"])
    ]  # fmt: skip


def test_a_group_gives_more_when_asked_and_then_its_own_list(
    page: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        build.issue(company, f"Work {number}")
    monkeypatch.setattr("issues.views.listing.ROWS", 2)
    monkeypatch.setattr("issues.views.listing.FEWEST", 2)
    monkeypatch.setattr("issues.views.listing.MORE", 4)
    assert len(shown(page, "/acme/issues/")) == 2
    assert b">4 more</a>" in page.get("/acme/issues/").content
    body = page.get("/acme/issues/?more=todo").content.decode()
    assert len(shown(page, "/acme/issues/?more=todo")) == 4
    assert 'href="/acme/issues/?status=todo&amp;group=none"' in body


def test_the_board_never_has_more_than_200_cards(page: Client, company: Company, founder: Person) -> None:
    from issues.views.board import MOST_CARDS, limit_cards
    from issues.views.grouping import Group

    for count in (1, 7, 40, 90):
        columns = [Group("status", str(number), "", (), 1_000) for number in range(count)]
        for opened in ("", "0", "nonsense"):
            limits = limit_cards(columns, opened)
            assert sum(limits.values()) <= MOST_CARDS
            assert min(limits.values()) >= 1
    few = [Group("status", "todo", "", (), 500), Group("status", "done", "", (), 3)]
    assert limit_cards(few, "todo") == {"todo": 197, "done": 14}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("status=todo", {"Nobody&#x27;s"}),
        ("status=open", {"Urgent", "Mine", "Nobody&#x27;s"}),
        ("status=closed", {"Done"}),
        ("assignee=me", {"Mine"}),
        ("assignee=agents", {"Urgent", "Done"}),
        ("assignee=people", {"Mine"}),
        ("assignee=none", {"Nobody&#x27;s"}),
        ("priority=low", {"Nobody&#x27;s"}),
        ("project=none", {"Mine", "Nobody&#x27;s"}),
        ("text=urg", {"Urgent"}),
        ("parent=none&status=todo", {"Nobody&#x27;s"}),
        ("parent=ACME-1", set()),
        ("opened=1", {"Urgent", "Mine", "Nobody&#x27;s", "Done"}),
        ("due=none&priority=urgent", {"Urgent"}),
        ("due=any", set()),
    ],
)
def test_each_filter_leaves_out_what_does_not_fit_and_is_shown_as_a_chip(
    query: str, wanted: set[str], page: Client, launch: dict[str, Issue]
) -> None:
    for view in ("issues", "board"):
        assert set(shown(page, f"/acme/{view}/?{query}")) == wanted
    body = page.get(f"/acme/issues/?{query}").content.decode()
    assert body.count('title="Take it off"') == query.count("=")


def test_issues_are_filtered_by_their_dates(page: Client, company: Company) -> None:
    today = timezone.localdate()
    for title, days in (("Late", -1), ("Today", 0), ("Next week", 7), ("Later", 8)):
        build.issue(company, title, due_date=today + datetime.timedelta(days=days))
    build.issue(company, "Whenever")
    old = build.issue(company, "Old")
    Issue.objects.filter(pk=old.pk).update(
        created_at=timezone.now() - datetime.timedelta(days=40), updated_at=timezone.now() - datetime.timedelta(days=10)
    )
    assert shown(page, "/acme/issues/?due=overdue") == ["Late"]
    assert set(shown(page, "/acme/issues/?due=week")) == {"Today", "Next week"}
    assert set(shown(page, "/acme/issues/?due=any")) == {"Late", "Today", "Next week", "Later"}
    assert set(shown(page, "/acme/issues/?due=none")) == {"Whenever", "Old"}
    assert "Old" not in shown(page, "/acme/issues/?opened=30")
    assert "Old" in shown(page, "/acme/issues/?opened=90")
    assert "Old" not in shown(page, "/acme/issues/?changed=7")
    assert "Old" in shown(page, "/acme/issues/?changed=30")


def test_children_of_one_issue_are_filtered_by_its_identifier(page: Client, company: Company) -> None:
    parent = build.issue(company, "Parent")
    build.issue(company, "Child", parent=parent)
    for word in ("ACME-1", "acme-1", "1", "%231"):
        assert shown(page, f"/acme/issues/?parent={word}") == ["Child"]


def test_a_chip_takes_off_its_filter_and_leaves_the_others(page: Client, launch: dict[str, Issue]) -> None:
    body = page.get("/acme/issues/?status=todo&priority=low&group=priority").content.decode()
    assert 'href="/acme/issues/?status=todo&amp;group=priority" aria-label="Without Priority: Low"' in body
    assert 'href="/acme/issues/?group=priority">Clear</a>' in body


def test_board_and_list_lead_to_one_another_with_everything_that_is_chosen(page: Client, company: Company) -> None:
    query = "status=open&priority=high&due=week&group=assignee"
    for view in ("board", "issues"):
        body = page.get(f"/acme/{view}/?{query}").content.decode()
        for other in ("board", "issues"):
            assert f'href="/acme/{other}/?{query.replace("&", "&amp;")}"' in body


def test_an_issue_can_be_looked_at_from_the_board(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company, "Guide", description="Two *pages*.", parent=build.issue(company, "Book"))
    for number in range(5):
        build.comment(issue, f"Word {number}")
    body = page.get(f"/acme/issues/{issue.identifier}/peek/").content.decode()
    assert "<em>pages</em>" in body
    assert "ACME-1 Book" in body
    assert [f"Word {number}" in body for number in range(5)] == [False, False, True, True, True]
