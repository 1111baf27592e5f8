"""The whole story in a browser: a person writes an issue, agents work it, the board is asked, the work goes on."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

TITLE = "Guide: beans in a bucket"


def test_an_issue_is_worked_from_the_first_word_to_the_boards_yes(tab: Page) -> None:
    tab.goto("/demo/board/")
    tab.get_by_role("link", name="New issue", exact=True).first.click()
    # The board has a field for words in titles too: a slow click must not leave us there.
    expect(tab.get_by_role("heading", name="New issue", level=1)).to_be_visible()
    tab.get_by_label("Title").fill(TITLE)
    tab.get_by_label("Description").fill("One page. Beans like sun.")
    tab.get_by_label("Assignee").select_option(label="Mara")
    tab.get_by_role("button", name="Create issue").click()
    expect(tab.get_by_role("heading", name=TITLE, level=1)).to_be_visible()

    # The assigned agent runs by itself; its comment and its actions land without a reload.
    timeline = tab.locator("#timeline")
    expect(timeline).to_contain_text("Mara looked at this")
    expect(timeline).to_contain_text("I plan this in two steps")
    expect(timeline).to_contain_text("set the status from Todo to In progress")
    expect(tab.get_by_role("heading", name="Child issues")).to_be_visible()

    # The child's agents wake in turn: one writes, the other reads and closes.
    child = tab.get_by_role("link", name=f"Draft: {TITLE}")
    child_address = child.get_attribute("href")
    assert child_address
    expect(tab.get_by_text("1 of 1 closed")).to_be_visible()

    # With the last child closed the first agent goes on, and asks the board.
    question = tab.get_by_role("region", name="Request").or_(tab.locator(".approval"))
    expect(question.first).to_contain_text(f"Publish “{TITLE}”")
    expect(tab.locator("#side-places")).to_contain_text(re.compile(r"Approvals\s*\d"))
    tab.get_by_role("button", name="Approve").click()

    # The one who asked goes on by itself and finishes.
    expect(timeline).to_contain_text("is published.")
    expect(tab.locator("#facts")).to_contain_text("Done")
    expect(tab.get_by_role("button", name="Approve")).to_have_count(0)

    tab.goto(child_address)
    expect(tab.locator("#timeline")).to_contain_text("Theo looked at this")
    expect(tab.locator("#timeline")).to_contain_text("Noor looked at this")
    tab.get_by_role("link", name="draft.md").click()
    expect(tab.get_by_text("A first draft. It says what is new")).to_be_visible()


def test_a_run_page_lets_one_follow_what_was_shown_said_and_changed(tab: Page) -> None:
    tab.goto("/demo/issues/DEMO-2/")
    tab.get_by_role("button", name="Run heartbeat").click()
    expect(tab.get_by_text("Mara is woken.")).to_be_visible()
    tab.locator("#timeline").get_by_role("link", name=re.compile(r"^run \d+$")).first.click()
    expect(tab.get_by_text("Succeeded").first).to_be_visible()
    expect(tab.get_by_text("Scripted, no model")).to_be_visible()
    expect(tab.get_by_text("Asked to run by Founder")).to_be_visible()
    tab.locator("summary", has_text="Your Assignment").click()
    expect(tab.get_by_text("Issue: DEMO-2")).to_be_visible()
    tab.locator("summary", has_text="As received").click()
    expect(tab.locator("pre.verbatim", has_text="Where we stand")).to_be_visible()


def test_a_mention_is_shown_before_it_wakes_and_wakes_when_sent(tab: Page) -> None:
    tab.goto("/demo/issues/DEMO-8/")
    field = tab.get_by_label("Comment", exact=True)
    field.press_sequentially("@no")
    tab.get_by_role("option", name="Noor").click()
    expect(field).to_have_value("@noor ")
    field.press_sequentially("please look once more, @nobody")
    wakes = tab.locator("[data-wakes-place]")
    expect(wakes).to_contain_text("Wakes")
    expect(wakes).to_contain_text("Noor")
    expect(wakes).to_contain_text("Nobody is called @nobody")
    field.press("Control+Enter")
    expect(field).to_have_value("")
    expect(tab.locator("#timeline")).to_contain_text("I have looked at it and have nothing to correct.")
