"""Taking back what was done, with all that it caused, and being told what could not be done at all."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_steering import slow_agent  # noqa: F401 - a fixture
from tests.browser.test_use import open_issue
from tests.servers import Installation

SECOND_MS = 1_000
LONGER = """() => {
  const wait = window.setTimeout;
  window.setTimeout = (act, ms, ...more) => wait(act, ms === 10000 ? 60000 : ms, ...more);
}"""
"""Lets the offer to undo stand for a minute: as long as a busy machine may take to begin a run."""

HIRE = """
    from agents.services.agents import hire_agent
    from issues.actors import Person
    from issues.models import Company, Role

    company = Company.objects.get(key="DEMO")
    owner = Person(company.members.get(role=Role.OWNER).user)
    if not company.agents.filter(handle="{handle}").exists():
        hire_agent(actor=owner, company=company, name="{handle}".capitalize(), adapter="external")
"""
TERMINATE = """
    from agents.services.agents import terminate_agent
    from issues.actors import Person
    from issues.models import Company, Role

    company = Company.objects.get(key="DEMO")
    owner = Person(company.members.get(role=Role.OWNER).user)
    terminate_agent(actor=owner, agent=company.agents.get(handle="{handle}"))
"""


def test_the_offer_to_undo_stands_for_ten_seconds(tab: Page) -> None:
    """Point 6."""
    tab.clock.install()
    key = open_issue(tab, "Offered for a while")
    tab.locator("[data-menu=s] summary").click()
    tab.get_by_role("button", name="In review").click()
    undo = tab.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    tab.clock.fast_forward(8 * SECOND_MS)
    expect(undo).to_be_visible()
    tab.clock.fast_forward(3 * SECOND_MS)
    expect(undo).to_have_count(0)
    expect(tab.get_by_text(f"{key} is in review now.")).to_have_count(0)


def test_undoing_an_assignment_cancels_the_run_that_it_began(tab: Page, slow_agent: str) -> None:  # noqa: F811
    """Point 6."""
    tab.add_init_script(f"({LONGER})()")
    tab.goto("/demo/issues/new/")
    tab.get_by_label("Title").fill("Given too soon")
    tab.get_by_label("Assignee").select_option(label="Founder")
    tab.get_by_role("button", name="Create issue").click()
    facts = tab.locator("#facts")
    tab.locator("[data-menu=a] summary").click()
    tab.get_by_role("button", name=slow_agent).click()
    expect(facts).to_contain_text(f"{slow_agent} is at work in run")
    tab.get_by_role("button", name="Undo").click()
    expect(facts).not_to_contain_text("is at work")
    expect(tab.locator("[data-menu=a] summary")).to_contain_text("Founder")
    expect(tab.locator("#timeline")).to_contain_text("cancelled")


def test_undoing_withdraws_a_wakeup_that_nothing_has_taken_yet(tab: Page, installation: Installation) -> None:
    """Point 6."""
    installation.python(HIRE.format(handle="heron"))
    keys = [open_issue(tab, f"Waded {number}") for number in range(2)]
    tab.goto(f"/demo/bulk/?issue={keys[0]}&issue={keys[1]}")
    tab.get_by_label("Status").select_option(label="Todo")
    tab.get_by_label("Assignee").select_option(label="Heron")
    expect(tab.locator("#effects")).to_contain_text("Heron")  # whom it wakes, before it does
    tab.get_by_role("button", name="Change them").click()
    expect(tab.get_by_text("2 issues are changed.")).to_be_visible()
    tab.get_by_role("button", name="Undo").click()
    expect(tab.locator(".toast").last).to_contain_text("as before")
    for key in keys:
        tab.goto(f"/demo/issues/{key}/wakeups/")
        expect(tab.locator("main")).to_contain_text("Heron")
        expect(tab.locator("main")).to_contain_text("undid what asked for it")


def test_of_many_those_that_could_not_be_changed_are_named_with_the_reason(
    new_tab: NewTab, installation: Installation
) -> None:
    """Point 10."""
    tab = new_tab()
    handle = f"otter-{open_issue(tab, 'Numbered').lower()}"  # an agent of its own: the test ends it
    installation.python(HIRE.format(handle=handle))
    keys = [open_issue(tab, f"Swum {number}") for number in range(2)]
    tab.goto(f"/demo/bulk/?issue={keys[0]}&issue={keys[1]}")
    tab.get_by_label("Assignee").select_option(label=handle.capitalize())
    expect(tab.locator("#effects")).to_contain_text("Wakes nobody")
    installation.python(TERMINATE.format(handle=handle))
    tab.get_by_role("button", name="Change them").click()
    for key in keys:
        refusal = tab.locator("#effects .notice", has_text=key)
        expect(refusal).to_contain_text(f"{key} is as it was: @{handle} is no longer here.")
        expect(tab.get_by_role("checkbox", name=f"Change {key}")).to_be_checked()
    tab.get_by_label("Assignee").select_option(label="Nobody")
    tab.get_by_label("Priority").select_option(label="High")
    tab.get_by_role("button", name="Change them").click()
    expect(tab.get_by_text("2 issues are changed.")).to_be_visible()
