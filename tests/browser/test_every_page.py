"""Every page: usable by everybody (axe-core, levels A and AA), at every width, in both themes, by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab, watch
from tests.browser.pages import PAGES
from tests.servers import Installation

AXE = Path(__file__).with_name("vendor") / "axe.min.js"
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
NARROW = {"width": 360, "height": 760}


@pytest.fixture(scope="module", autouse=True)
def told_story(installation: Installation, chromium: Any, session: Any) -> None:
    """Let the demo's agents tell their story, so that pages hold runs, files, findings and a question."""
    context = chromium.new_context(base_url=installation.url, storage_state=session)
    complaints: list[str] = []
    watch(context, installation.url, complaints.append)
    page = context.new_page()
    page.goto("/demo/issues/DEMO-1/")
    page.get_by_role("button", name="Run heartbeat").click()
    expect(page.locator(".approval")).to_be_visible(timeout=30_000)
    context.close()
    assert complaints == []


def faults_of(page: Page) -> list[str]:
    """What axe-core finds against a page, a line each."""
    page.evaluate(AXE.read_text())  # past the page's policy, as an extension would
    found = page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{fault['id']}: {node['html'][:160]} ({fault['help']})"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_fault_that_axe_finds(name: str, theme: str, new_tab: NewTab) -> None:
    """Point 15."""
    tab = new_tab(color_scheme=theme, expecting=("404",))
    tab.goto(PAGES[name])
    assert faults_of(tab) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_neither_has_the_log_in_page_nor_an_open_menu_dialog_or_error(theme: str, new_tab: NewTab) -> None:
    """Point 15."""
    tab = new_tab(color_scheme=theme, storage_state=None, expecting=("422",))
    tab.goto("/login/")
    assert faults_of(tab) == []
    tab.get_by_label("User name").fill("nobody")
    tab.get_by_label("Password").fill("wrong")
    tab.get_by_role("button", name="Log in").click()
    expect(tab.get_by_role("alert")).to_be_visible()
    assert faults_of(tab) == []
    inside = new_tab(color_scheme=theme)
    inside.goto("/demo/issues/DEMO-2/")
    inside.locator("[data-menu=a] summary").click()
    assert faults_of(inside) == []
    inside.keyboard.press("Escape")
    inside.keyboard.press("?")
    assert faults_of(inside) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_without_sideways_scroll(name: str, new_tab: NewTab) -> None:
    """Point 16."""
    tab = new_tab(viewport=NARROW, expecting=("404",))
    tab.goto(PAGES[name])
    assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_on_a_phone_the_menu_is_a_sheet_that_closes(new_tab: NewTab) -> None:
    tab = new_tab(viewport=NARROW)
    tab.goto("/demo/board/")
    tab.get_by_role("link", name="Open the menu").click()
    expect(tab.get_by_role("link", name="Agents")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("link", name="Agents")).to_be_hidden()


@pytest.mark.parametrize("name", ["board", "issue", "run"])
def test_the_focus_walks_through_a_page_and_is_always_seen(name: str, tab: Page) -> None:
    """Point 15."""
    tab.goto(PAGES[name])
    seen: set[str] = set()
    for _ in range(40):
        tab.keyboard.press("Tab")
        place = tab.evaluate("""() => {
          const element = document.activeElement;
          const boxed = element.closest(".composer") ?? element;
          const ring = [getComputedStyle(boxed), getComputedStyle(element), getComputedStyle(element, "::after")].some(
            (one) => one.outlineStyle !== "none" || one.boxShadow !== "none");
          return { at: element.outerHTML.slice(0, 200), isBody: element === document.body, ring };
        }""")
        if place["isBody"]:
            break
        assert place["ring"], place["at"]
        seen.add(place["at"])
    assert len(seen) > 15


def test_the_first_tab_stop_leads_past_the_side_bar(tab: Page) -> None:
    tab.goto("/demo/board/")
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("link", name="Skip to the content")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("#main")).to_be_focused()


def test_the_focus_stays_where_it_was_after_a_change(tab: Page) -> None:
    """Point 15."""
    tab.goto("/demo/issues/DEMO-7/")
    tab.locator("[data-menu=p] summary").press("Enter")
    tab.get_by_role("button", name="High").press("Enter")
    expect(tab.locator("#timeline")).to_contain_text("set the priority to High")
    expect(tab.locator("[data-menu=p] summary")).to_be_focused()
