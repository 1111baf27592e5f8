"""Finding issues: by number or words in a company of 5,000, and by every filter of board and list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import NewTab, log_in
from tests.servers import Installation

LARGE = """
    from issues.actors import Person
    from issues.models import Company, Issue, Role
    from issues.services.companies import found_company
    from issues.services.issues import create_issue

    user = Company.objects.get(key="DEMO").members.get(role=Role.OWNER).user
    company = found_company(actor=Person(user), name="Acme", key="ACME")
    member = company.members.get()
    first = create_issue(actor=Person(user, member), company=company, title="Plain work")
    rows = [
        Issue(company=company, number=number, title=f"Plain work of a day ({number})", responsible=member,
              rank=number, status_changed_at=first.status_changed_at)
        for number in range(2, 5_001)
    ]
    rows[10].title = "The kettle sings at dawn"
    Issue.objects.bulk_create(rows)
"""

SORTED = """
    from agents.services.agents import hire_agent
    from agents.services.runs import check_out
    from issues.actors import Person
    from issues.models import Company, Priority, Role, Status
    from issues.services.accounts import create_user
    from issues.services.approvals import request_approval
    from issues.services.blockers import add_blockers
    from issues.services.companies import add_member, found_company
    from issues.services.issues import create_issue, edit_issue
    from issues.services.projects import create_label, create_project
    from agents.services.agents import worker_for
    from django.utils import timezone

    user = Company.objects.get(key="DEMO").members.get(role=Role.OWNER).user
    company = found_company(actor=Person(user), name="Sorted", key="SORT")
    owner = Person(user, company.members.get())
    grace = create_user(username="grace", name="Grace")
    other = add_member(actor=owner, company=company, user=grace, role=Role.BOARD)
    ada = hire_agent(actor=owner, company=company, name="Ada", adapter="external")
    bob = hire_agent(actor=owner, company=company, name="Bob", adapter="external")

    def issue(title, **fields):
        return create_issue(actor=owner, company=company, title=title, **({"status": Status.BACKLOG} | fields))

    plain = issue("Plain")
    issue("Reviewed", status=Status.IN_REVIEW, assignee=other)
    issue("Pressing", priority=Priority.URGENT)
    issue("Labelled", labels=[create_label(actor=owner, company=company, name="bug")])
    issue("Projected", project=create_project(actor=owner, company=company, name="Launch"))
    issue("Below", parent=plain)
    issue("Spoken", description="Of zanzibar.")
    edit_issue(actor=owner, issue=issue("Late"), due_date=timezone.localdate())
    add_blockers(actor=owner, issue=issue("Stuck"), blockers=[plain])
    issue("Adas", assignee=ada)
    run = check_out(actor=worker_for(bob), issue=issue("Running", assignee=bob))
    asked = issue("Asking", assignee=bob)
    request_approval(actor=Person(user, company.members.get(user=user)), issue=asked, title="May I?")
"""

EVERYTHING = {
    "Plain", "Reviewed", "Pressing", "Labelled", "Projected", "Below", "Spoken", "Late", "Stuck", "Adas", "Running",
    "Asking",
}  # fmt: skip
CHOICES = [
    ("Status", "In review", "status=in_review", {"Reviewed"}),
    ("Assignee", "Ada", "assignee=agent%3A", {"Adas"}),
    ("Assignee", "Grace", "assignee=member%3A", {"Reviewed"}),
    ("Assignee", "Any agent", "assignee=agents", {"Adas", "Running", "Asking"}),
    ("Assignee", "Any person", "assignee=people", {"Reviewed"}),
    ("Assignee", "Nobody", "assignee=none", EVERYTHING - {"Reviewed", "Adas", "Running", "Asking"}),
    ("Label", "bug", "label=", {"Labelled"}),
    ("Priority", "Urgent", "priority=urgent", {"Pressing"}),
    ("Project", "Launch", "project=", {"Projected"}),
    ("State", "Waiting for me", "only=for-me", {"Asking", "Reviewed"}),
    ("State", "Running now", "only=running", {"Running"}),
    ("State", "Blocked", "only=blocked", {"Stuck"}),
    ("Due", "Has a due date", "due=any", {"Late"}),
]
TYPED = [
    ("Words in title, description or comments", "zanzibar", "text=zanzibar", {"Spoken"}),
    ("Parent", "sort-1", "parent=sort-1", {"Below"}),
]


@pytest.fixture(scope="module")
def large(installation: Installation) -> None:
    installation.python(LARGE)


@pytest.fixture(scope="module")
def grace(installation: Installation, chromium: Browser) -> object:
    """The cookies of a second person in a company with an issue for each filter."""
    installation.python(SORTED)
    return log_in(installation, chromium, "--user", "grace")


@pytest.mark.parametrize("typed", ["12", "acme-12", "#12"])
def test_an_issue_is_found_by_its_number_among_5000(typed: str, tab: Page, large: None) -> None:
    """Point 1."""
    tab.goto("/acme/board/")
    tab.get_by_label("Search issues").fill(typed)
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/acme/issues/ACME-12/")
    expect(tab.get_by_role("heading", name="The kettle sings at dawn", level=1)).to_be_visible()


def test_an_issue_is_found_by_two_words_of_its_title_among_5000(tab: Page, large: None) -> None:
    """Point 1."""
    tab.goto("/acme/board/")
    tab.get_by_label("Search issues").fill("dawn kettle")
    tab.keyboard.press("Enter")
    expect(tab.locator("main [data-row] .title")).to_have_text(["The kettle sings at dawn"])
    for typed in ("acme-12", "kettle dawn"):
        tab.keyboard.press("Control+k")
        tab.keyboard.type(typed)
        expect(tab.get_by_role("option", name="ACME-12 The kettle sings at dawn")).to_be_visible()
        tab.keyboard.press("Escape")


def test_a_search_among_5000_costs_the_server_less_than_150_ms(
    tab: Page, large: None, installation: Installation
) -> None:
    """Point 1. The server's own work is measured, not the wait for a busy machine; `make bench` measures that, too."""
    tab.goto("/acme/board/")
    web = installation.parts()["web"]
    for words in ("12", "dawn kettle", "work day"):
        before = _worked(web)
        for _ in range(10):
            assert tab.request.get(f"/acme/search/?q={words}", max_redirects=0).status in (200, 302)
        assert (_worked(web) - before) / 10 < 0.15, words


def _worked(pid: int) -> float:
    """Seconds that the process has computed for so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def titles(tab: Page) -> set[str]:
    return set(tab.locator("[data-row] .title").all_text_contents())


def unfiltered(tab: Page) -> None:
    tab.goto("/sort/issues/")
    assert titles(tab) == EVERYTHING
    tab.locator(".more-filters summary").click()


def test_each_filter_selects_and_stands_in_the_address(new_tab: NewTab, grace: object) -> None:
    """Point 9."""
    tab = new_tab()
    unfiltered(tab)
    for label, option, address, found in CHOICES:
        field = tab.get_by_role("combobox", name=label, exact=True)
        field.select_option(label=option)
        tab.wait_for_url(f"**/sort/issues/?{address}*")
        assert titles(tab) == found, option
        unfiltered(tab)
    for label, words, address, found in TYPED:
        tab.get_by_label(label, exact=True).fill(words)
        tab.keyboard.press("Enter")
        tab.wait_for_url(f"**/sort/issues/?{address}")
        assert titles(tab) == found, words
        unfiltered(tab)


def test_a_view_that_is_shared_is_there_for_somebody_else(new_tab: NewTab, grace: object) -> None:
    """Point 9."""
    mine, theirs = new_tab(), new_tab(storage_state=grace)
    mine.goto("/sort/issues/?status=open&priority=urgent")
    mine.locator("[data-menu=v] summary").click()
    mine.get_by_label("Keep what is selected here").fill("What presses")
    mine.get_by_label("For everybody").check()
    mine.get_by_role("button", name="Keep it", exact=True).click()
    expect(mine.get_by_text("“What presses” is kept.")).to_be_visible()
    theirs.goto("/sort/board/")
    theirs.locator("[data-menu=v] summary").click()
    theirs.get_by_role("link", name="What presses").click()
    theirs.wait_for_url("**/sort/issues/?*priority=urgent*")
    assert titles(theirs) == {"Pressing"}
