"""A long issue in a browser: what is read keeps its place while earlier entries come in and others go on writing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_every_page import faults_of
from tests.servers import Installation

TALK = """
    import json

    from issues.actors import Person
    from issues.effects import quietly, unit
    from issues.models import Company
    from issues.services.comments import write_comment
    from issues.services.issues import create_issue

    company = Company.objects.get(key="DEMO")
    member = company.members.get()
    actor = Person(member.user, member)
    with unit(), quietly():
        issue = create_issue(actor=actor, company=company, title="Talked about")
        for n in range(120):
            write_comment(actor=actor, issue=issue, body=f"Remark {n}.")
    print(json.dumps(f"/demo/issues/{issue.identifier}/"))
"""


@pytest.fixture(scope="module")
def talk(installation: Installation) -> str:
    """The address of an issue with 120 comments and more."""
    return str(installation.python(TALK))


def comment(tab: Page, number: int) -> Locator:
    return tab.locator("#timeline .entry", has_text=f"Remark {number}.")


def top(place: Locator) -> float:
    """Where on the screen it begins, in pixels."""
    return float(place.evaluate("element => element.getBoundingClientRect().top"))


def expect_at(place: Locator, height: float) -> None:
    """Wait until it begins there on the screen."""
    place.page.wait_for_function(
        "([element, height]) => Math.abs(element.getBoundingClientRect().top - height) < 2",
        arg=[place.element_handle(), height],
    )


def test_the_first_comment_stands_above_the_gap_and_what_is_read_stays_when_it_is_filled(
    new_tab: NewTab, talk: str
) -> None:
    tab, theirs = new_tab(), new_tab()
    theirs.goto(talk)
    tab.goto(talk)
    expect(comment(tab, 0)).to_be_visible()
    expect(comment(tab, 60)).to_have_count(0)
    gap = tab.locator("#gap")
    read = tab.locator(f"#{tab.locator('#gap + .entry').get_attribute('id')}")
    assert top(comment(tab, 0)) < top(gap) < top(read)
    more = gap.get_by_role("link", name="Show earlier entries")
    more.scroll_into_view_if_needed()
    before = top(read)
    more.click()
    expect(comment(tab, 60)).to_be_attached()
    expect(more).to_be_focused()
    expect_at(read, before)
    # What was unfolded and where one reads outlives what somebody else says.
    theirs.get_by_label("Comment", exact=True).fill("From the side")
    theirs.get_by_role("button", name="Comment", exact=True).click()
    expect(tab.locator("#timeline .entry").last).to_contain_text("From the side")
    expect(comment(tab, 60)).to_be_attached()
    expect_at(read, before)
    assert faults_of(tab) == []


def test_by_keys_one_stays_at_the_gap_until_it_is_filled(tab: Page, talk: str) -> None:
    tab.goto(talk)
    more = tab.locator("#gap").get_by_role("link", name="Show earlier entries")
    tab.locator("#timeline .entry:has(+ #gap) a").first.focus()
    while not more.evaluate("link => link === document.activeElement"):
        tab.keyboard.press("Tab")
    before = top(tab.locator("#gap"))
    tab.keyboard.press("Enter")
    expect(comment(tab, 60)).to_be_attached()
    expect(more).to_be_focused()
    expect_at(tab.locator("#gap"), before)
    tab.keyboard.press("Enter")
    expect(more).to_have_count(0)
    expect(comment(tab, 1).get_by_role("link").first).to_be_focused()
    expect_at(comment(tab, 1), before)


def test_without_scripts_the_gap_leads_to_the_earlier_part(new_tab: NewTab, talk: str) -> None:
    tab = new_tab(java_script_enabled=False)
    tab.goto(talk)
    tab.get_by_role("link", name="Show earlier entries").click()
    expect(comment(tab, 60)).to_be_visible()
    expect(comment(tab, 0)).to_be_visible()
    tab.get_by_role("link", name="To the newest").click()
    expect(comment(tab, 119)).to_be_visible()
