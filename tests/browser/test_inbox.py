"""The inbox by keyboard, and comments and edits that survive what goes wrong."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_use import open_issue
from tests.servers import Installation

PUT = """
from issues.models import Company, InboxItem
company = Company.objects.get(key="DEMO")
member = company.members.get()
InboxItem.objects.all().delete()
for text in ("First", "Second", "Third"):
    InboxItem.objects.create(company=company, member=member, kind="mention", text=text)
"""

CHANGE = """
from issues.actors import Person
from issues.models import Company
from issues.services.issues import edit_issue
company = Company.objects.get(key="DEMO")
member = company.members.get()
issue = company.issues.get(number={number})
edit_issue(actor=Person(member.user, member), issue=issue, title="Theirs", description="Their text.")
"""


def test_the_inbox_is_worked_off_by_the_keyboard(tab: Page, installation: Installation) -> None:
    """Keys: E, H, M."""
    installation.manage("shell", "-c", PUT)
    tab.goto("/demo/inbox/")
    said = tab.locator(".inbox-item .said")
    expect(said).to_have_text(["Third", "Second", "First"])
    tab.keyboard.press("j")
    expect(said.first).to_be_focused()
    tab.keyboard.press("e")
    expect(said).to_have_text(["Second", "First"])
    expect(said.first).to_be_focused()
    tab.keyboard.press("j")
    tab.keyboard.press("h")
    tab.keyboard.press("Enter")
    expect(said).to_have_text(["Second"])
    expect(said.first).to_be_focused()
    tab.get_by_role("link", name="Snoozed").click()
    expect(said).to_have_text(["First"])


def test_an_edit_in_place_meets_somebody_elses_and_both_are_kept(tab: Page, installation: Installation) -> None:
    """Point 4."""
    key = open_issue(tab, "Edited by two")
    tab.keyboard.press("e")
    form = tab.locator("form#issue-form")
    expect(form.get_by_label("Description")).to_be_focused()
    form.get_by_label("Title").fill("Mine")
    form.get_by_label("Description").fill("My text.")
    installation.manage("shell", "-c", CHANGE.format(number=key.rpartition("-")[2]))
    tab.keyboard.press("Control+Enter")
    expect(form.get_by_text("Founder changed the title and description meanwhile.")).to_be_visible()
    expect(form.get_by_label("Title", exact=True)).to_have_value("Mine")
    expect(form.locator(".diff .removed")).to_have_text("-Their text.")
    form.locator("[name=take][value=title]").click()
    expect(form.get_by_label("Title", exact=True)).to_have_value("Theirs")
    expect(form.get_by_label("Description", exact=True)).to_have_value("My text.")
    form.get_by_role("button", name="Save mine").click()
    expect(tab.get_by_role("heading", name="Theirs")).to_be_visible()
    expect(tab.locator("div#issue-text .prose")).to_have_text("My text.")
    assert tab.evaluate("document.activeElement.dataset.key") == "e"


def test_a_draft_of_an_edit_does_not_write_over_what_came_since(new_tab: NewTab, installation: Installation) -> None:
    """Point 4."""
    tab = new_tab(expecting=("412",))
    key = open_issue(tab, "Draft and change")
    tab.keyboard.press("e")
    form = tab.locator("form#issue-form")
    form.get_by_label("Description").press_sequentially("My draft.")
    tab.reload()
    installation.manage("shell", "-c", CHANGE.format(number=key.rpartition("-")[2]))
    tab.reload()
    tab.keyboard.press("e")
    expect(form.get_by_label("Description")).to_have_value("My draft.")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_text("changed the description meanwhile.")).to_be_visible()


def test_a_comment_survives_reload_lost_session_and_failed_send(new_tab: NewTab) -> None:
    """Point 5."""
    tab = new_tab(expecting=("401", "503"))
    open_issue(tab, "Commented in bad weather")
    field = tab.get_by_label("Comment", exact=True)
    field.press_sequentially("A long thought.")
    tab.reload()
    expect(field).to_have_value("A long thought.")
    send = tab.get_by_role("button", name="Comment", exact=True)
    tab.route("**/comments/", lambda route: route.fulfill(status=503))
    send.click()
    expect(tab.get_by_text("That did not work (503).")).to_be_visible()
    expect(field).to_have_value("A long thought.")
    tab.unroute("**/comments/")
    cookies = tab.context.cookies()
    tab.context.clear_cookies(name=next(cookie["name"] for cookie in cookies if "session" in cookie["name"]))
    send.click()
    expect(tab.get_by_text("You are logged out.")).to_be_visible()
    expect(field).to_have_value("A long thought.")
    tab.context.add_cookies(cookies)
    send.click()
    expect(tab.locator(".comment", has_text="A long thought.")).to_be_visible()
    expect(field).to_have_value("")
