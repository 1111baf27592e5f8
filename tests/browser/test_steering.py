"""Steering agents and mending one's own words: stopping a run, breaking a checkout, deciding, editing."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_use import open_issue
from tests.servers import Installation

BEHIND = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""What a tab is told when another one comes before it."""

HIRE_SLOW = """
    from agents.services.agents import hire_agent
    from issues.actors import Person
    from issues.models import Company, Role

    company = Company.objects.get(key="DEMO")
    owner = company.members.get(role=Role.OWNER)
    if not company.agents.filter(handle="sloth").exists():
        script = "- {reply: Far too late., delay: 120}"
        hire_agent(actor=Person(owner.user), company=company, name="Sloth", provider="scripted", script=script)
"""


@pytest.fixture
def slow_agent(installation: Installation) -> str:
    """The name of an agent whose answer takes two minutes."""
    installation.python(HIRE_SLOW)
    return "Sloth"


def test_the_run_that_is_at_work_is_stopped_from_its_issue(tab: Page, slow_agent: str) -> None:
    """Point 12."""
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.goto("/demo/issues/new/")
    tab.get_by_label("Title").fill("Never to be finished")
    tab.get_by_label("Assignee").select_option(label=slow_agent)
    tab.get_by_role("button", name="Create issue").click()
    facts = tab.locator("#facts")
    expect(facts).to_contain_text(f"{slow_agent} is at work in run")
    facts.get_by_role("button", name="Cancel the run").click()
    expect(facts).not_to_contain_text("is at work")
    expect(tab.locator("#timeline")).to_contain_text("cancelled")
    expect(tab.locator("#timeline")).not_to_contain_text("Far too late.")


def test_a_checkout_of_an_outside_agent_is_shown_and_broken(tab: Page, installation: Installation) -> None:
    """Point 12."""
    issue = open_issue(tab, "Held by a program")
    key = installation.manage("create_key", "--agent", "noor", "--company", "DEMO").stdout.split()[-1]
    claim = urllib.request.Request(
        f"{installation.url}/api/issues/{issue}/checkout",
        data=json.dumps({}).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(claim) as answer:
        assert answer.status in (200, 201)
    tab.on("dialog", lambda dialog: dialog.accept())
    facts = tab.locator("#facts")
    expect(facts).to_contain_text("Noor is at work in run")
    facts.get_by_role("button", name="Cancel the run").click()
    expect(facts).not_to_contain_text("is at work")


def test_without_scripts_one_approves(new_tab: NewTab) -> None:
    """Point 14."""
    tab = new_tab(java_script_enabled=False)
    tab.goto("/demo/issues/new/")
    tab.get_by_label("Title").fill("Guide: plain paper")
    tab.get_by_label("Assignee").select_option(label="Mara")
    tab.get_by_role("button", name="Create issue").click()
    for _ in range(60):
        if tab.get_by_role("button", name="Approve").count():
            break
        tab.wait_for_timeout(500)
        tab.reload()
    tab.get_by_role("button", name="Approve").click()
    expect(tab.get_by_role("button", name="Approve")).to_have_count(0)
    expect(tab.locator("#timeline")).to_contain_text("approved")


def test_ones_own_comment_is_edited_and_deleted_and_what_it_said_can_be_read(tab: Page) -> None:
    """Point 8."""
    tab.on("dialog", lambda dialog: dialog.accept())
    open_issue(tab, "Second thoughts")
    tab.get_by_label("Comment", exact=True).fill("Red, I think.")
    tab.get_by_role("button", name="Comment", exact=True).click()
    comment = tab.get_by_role("article", name="Comment by Founder")
    comment.get_by_label("More for this comment").click()
    comment.get_by_role("link", name="Edit").click()
    expect(tab.get_by_role("heading", name="Edit a comment")).to_be_visible()
    tab.get_by_label("Comment", exact=True).fill("Green, I think.")
    tab.get_by_role("button", name="Save").click()
    expect(comment).to_contain_text("Green, I think.")
    comment.get_by_role("link", name="edited").click()
    expect(tab.get_by_text("Red, I think.").first).to_be_visible()
    tab.go_back()
    comment.get_by_label("More for this comment").click()
    comment.get_by_role("button", name="Delete").click()
    expect(tab.locator("#timeline")).to_contain_text("deleted this comment")
    expect(tab.locator("#timeline")).not_to_contain_text("Green, I think.")


def test_an_edit_under_way_outlives_what_others_do(new_tab: NewTab) -> None:
    """Point 13."""
    mine, theirs = new_tab(), new_tab()
    key = open_issue(theirs, "Under the pen")
    mine.goto(f"/demo/issues/{key}/")
    mine.keyboard.press("e")
    mine.get_by_label("Title").fill("Under my own pen")
    theirs.get_by_label("Comment", exact=True).fill("Said meanwhile")
    theirs.get_by_role("button", name="Comment", exact=True).click()
    expect(theirs.locator("#timeline")).to_contain_text("Said meanwhile")
    mine.wait_for_timeout(1_500)  # as long as a change takes to arrive, and more
    expect(mine.get_by_label("Title")).to_have_value("Under my own pen")
    mine.get_by_label("Title").press("Control+Enter")
    expect(mine.get_by_role("heading", name="Under my own pen", level=1)).to_be_visible()
    expect(mine.locator("#timeline")).to_contain_text("Said meanwhile")


def test_a_comment_that_could_not_be_sent_stays_where_it_was_typed(new_tab: NewTab) -> None:
    """Point 5."""
    tab = new_tab(expecting=("ERR_FAILED", "fetch"))
    open_issue(tab, "In a tunnel")
    tab.route("**/comments/**", lambda route: route.abort())
    tab.get_by_label("Comment", exact=True).fill("Typed in a tunnel")
    tab.get_by_role("button", name="Comment", exact=True).click()
    expect(tab.locator(".toast.bad, .toast.error, [role=alert]").first).to_be_visible()
    expect(tab.get_by_label("Comment", exact=True)).to_have_value("Typed in a tunnel")
    tab.unroute("**/comments/**")
    tab.get_by_role("button", name="Comment", exact=True).click()
    expect(tab.locator("#timeline")).to_contain_text("Typed in a tunnel")


def test_a_ninth_tab_still_loads(new_tab: NewTab) -> None:
    """A browser opens six connections to a host: tabs behind others have to let go of their streams."""
    page = new_tab()
    for number in range(9):
        page.goto("/demo/board/")
        expect(page.get_by_role("heading", name="Board", level=1), f"tab {number + 1}").to_be_visible()
        page.evaluate(BEHIND)
        page = page.context.new_page()


def test_board_issue_approval_and_run_are_walked_by_keyboard_alone(tab: Page) -> None:
    """Point 15. From the board to an issue, a word to its agent, the board's yes, and what the run did: no mouse."""
    tab.goto("/demo/board/")
    tab.keyboard.press("c")
    tab.wait_for_url("**/issues/new/")
    expect(tab.get_by_label("Title")).to_be_focused()
    tab.keyboard.type("Guide: walked by keys")
    tab.keyboard.press("Control+Enter")
    tab.wait_for_url("**/issues/DEMO-*/")
    tab.keyboard.press("a")
    tab.keyboard.press("End")
    _press_until(tab, "ArrowUp", "Mara")
    tab.keyboard.press("Enter")
    expect(tab.locator("#facts")).to_contain_text("Mara")
    _stays_on_page(tab)
    approve = tab.get_by_role("button", name="Approve")
    expect(approve).to_be_visible(timeout=30_000)
    tab.keyboard.press("g")
    tab.keyboard.press("i")
    tab.wait_for_url("**/inbox/")
    _press_until(tab, "j", "walked by keys")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile(r"/(issues|approvals)/"))
    _press_until(tab, "Tab", "Approve")
    tab.keyboard.press("Enter")
    expect(approve).to_have_count(0)
    _stays_on_page(tab)
    tab.keyboard.press("g")
    tab.keyboard.press("b")
    tab.wait_for_url("**/board/")
    _press_until(tab, "j", "walked by keys")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="Guide: walked by keys", level=1)).to_be_visible()
    tab.keyboard.press("g")
    tab.keyboard.press("r")
    tab.wait_for_url("**/runs/")
    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile(r"/runs/\d+/"))
    expect(tab.get_by_text("Succeeded").first).to_be_visible()
    _press_until(tab, "Tab", "As received")
    if tab.locator("details", has_text="As received").get_attribute("open") is None:
        tab.keyboard.press("Enter")  # it is open already where no comment was made of it
    expect(tab.locator("pre.verbatim:visible").first).to_be_visible()


def _focused(tab: Page) -> str:
    """What the element with the focus says; nothing while the page as a whole has it."""
    text: str = tab.evaluate("""() => {
      const element = document.activeElement;
      return element.matches("body, main") ? "" : element.textContent.trim();
    }""")
    return text


def _stays_on_page(tab: Page) -> None:
    assert tab.evaluate("document.activeElement !== document.body")


def _press_until(tab: Page, key: str, name: str, *, most: int = 120) -> None:
    """Press the key until what has the focus says the name."""
    for _ in range(most):
        if name in _focused(tab):
            return
        tab.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {name}")
