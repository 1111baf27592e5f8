"""A newcomer with no company: from its founding to a first run that is looked at, and every page while it is empty."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_every_page import NARROW, faults_of

EMPTY = (
    "", "start/", "board/", "issues/", "inbox/", "approvals/", "agents/", "runs/", "projects/", "labels/", "findings/",
    "skills/", "routines/", "costs/", "settings/members/", "settings/policy/", "settings/models/", "settings/budgets/",
)  # fmt: skip


def found(tab: Page, name: str, key: str) -> None:
    tab.goto("/found-company/")
    tab.get_by_label("Name").fill(name)
    tab.get_by_label("Key").fill(key)
    tab.get_by_role("button", name="Found the company").click()
    expect(tab.get_by_role("heading", name="First steps")).to_be_visible()


def test_three_steps_lead_to_a_run_that_can_be_looked_at(tab: Page) -> None:
    found(tab, "Garden", "GARDEN")
    tab.get_by_role("button", name="Hire Robin").click()
    tab.get_by_role("button", name="Open “Say hello”").click()
    # The run appears by itself, and what it said and changed with it.
    expect(tab.locator("#timeline")).to_contain_text("I am a scripted agent")
    expect(tab.locator("#facts")).to_contain_text("Done")
    tab.goto("/garden/start/")
    tab.get_by_role("link", name="Open run").click()
    expect(tab.get_by_role("heading", name="Why it ran")).to_be_visible()
    expect(tab.locator("#run")).to_contain_text("/status done")


def test_the_guide_shows_by_itself_that_a_step_was_taken_elsewhere(new_tab: NewTab) -> None:
    guide = new_tab()
    found(guide, "Meadow", "MEADOW")
    other = new_tab()
    other.goto("/meadow/start/")
    other.get_by_role("button", name="Hire Robin").click()
    expect(guide.get_by_role("button", name="Open “Say hello”")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_empty_page_has_no_fault_that_axe_finds_and_fits_a_phone(theme: str, new_tab: NewTab) -> None:
    """Points 15 and 16."""
    tab = new_tab(color_scheme=theme, viewport=NARROW)
    found(tab, "Desert", f"EMPTY{theme[0].upper()}")
    for address in EMPTY:
        tab.goto(f"/empty{theme[0]}/{address}")
        assert faults_of(tab) == [], address
        assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], address


def test_a_form_that_is_refused_has_no_fault_either(new_tab: NewTab) -> None:
    """Points 15 and 18."""
    tab = new_tab(expecting=("409", "422"))
    for address, fields in (
        ("/demo/projects/new/", {"Name": "Spring guides"}),
        ("/demo/skills/new/", {"Name": "House style", "Text": "Short."}),
        ("/demo/labels/", {"Name of the new label": "bug"}),
    ):
        tab.goto(address)
        for label, value in fields.items():
            tab.get_by_label(label, exact=True).fill(value)
        tab.get_by_role("main").get_by_role("button").first.click()
        expect(tab.get_by_role("alert")).to_be_visible()
        assert faults_of(tab) == [], address


def test_one_letter_keys_do_nothing_once_they_are_switched_off(new_tab: NewTab) -> None:
    tab = new_tab()
    tab.goto("/demo/profile/")
    tab.get_by_label("One-letter keys").uncheck()
    tab.get_by_role("form", name="This browser").get_by_role("button", name="Save").click()
    expect(tab.get_by_text("Kept for this browser.")).to_be_visible()
    tab.locator("#main").focus()
    tab.keyboard.press("?")
    tab.keyboard.press("c")
    tab.keyboard.press("g")
    tab.keyboard.press("b")
    expect(tab.locator("#shortcuts")).to_be_hidden()
    assert tab.url.endswith("/demo/profile/")
    tab.goto("/demo/board/")
    tab.locator("[data-card] .title").first.focus()
    tab.keyboard.press("m")
    expect(tab.locator(".lifted")).to_have_count(0)
