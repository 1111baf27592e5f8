"""Each key of the list of keys does what the list says, and nothing where it must not."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_use import open_issue


def test_g_and_a_letter_go_to_every_place_of_the_side_bar(tab: Page) -> None:
    """Keys: G."""
    tab.goto("/demo/board/")
    places = tab.locator("[data-go]").evaluate_all("links => links.map(link => [link.dataset.go, link.href])")
    assert len(places) >= 14
    assert len({letter for letter, _ in places}) == len(places)
    for letter, address in places:
        tab.keyboard.press("g")
        tab.keyboard.press(letter)
        tab.wait_for_url(address)


@pytest.mark.parametrize(("letter", "first"), [("s", "Backlog"), ("p", "None"), ("a", "Nobody"), ("l", "website")])
def test_a_letter_opens_the_menu_that_its_tooltip_names(letter: str, first: str, tab: Page) -> None:
    """Keys: S, P, A, L."""
    open_issue(tab, f"Menu {letter}")
    menu = tab.locator(f"[data-menu={letter}]")
    expect(menu.locator("summary")).to_have_attribute("title", re.compile(rf"\({letter.upper()}\)"))
    tab.keyboard.press(letter)
    expect(menu).to_have_attribute("open", "")
    expect(menu.get_by_role("button", name=first)).to_be_visible()
    tab.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")


def test_j_and_k_walk_the_rows_and_escape_returns_to_the_same_place(tab: Page) -> None:
    """Keys: J, K, Enter, Esc."""
    keys = [open_issue(tab, f"Ladder {number}") for number in range(3)]
    tab.goto("/demo/issues/?text=ladder")
    titles = [tab.locator(f"#row-{key} .title") for key in keys]
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("k")
    here = tab.evaluate("document.activeElement.closest('[data-row]').id")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/issues/DEMO-*/")
    tab.keyboard.press("Escape")
    tab.wait_for_url("**/issues/?text=ladder")
    assert here in [title.locator("xpath=ancestor::*[@data-row]").get_attribute("id") for title in titles]


def test_e_edits_r_quotes_what_is_selected_and_i_takes_it_on(tab: Page) -> None:
    """Keys: E, R, I, Ctrl, Enter."""
    open_issue(tab, "Letters")
    tab.get_by_label("Comment", exact=True).fill("Words worth citing")
    tab.keyboard.press("Control+Enter")
    expect(tab.locator("#timeline")).to_contain_text("Words worth citing")
    tab.evaluate("""() => {
      document.activeElement.blur();
      getSelection().selectAllChildren([...document.querySelectorAll("#timeline .prose p")].pop());
    }""")
    tab.keyboard.press("r")
    expect(tab.get_by_label("Comment", exact=True)).to_have_value("> Words worth citing\n\n")
    tab.keyboard.press("Escape")
    tab.keyboard.press("i")
    expect(tab.locator("#timeline")).to_contain_text("assigned Founder")
    tab.keyboard.press("e")
    expect(tab.get_by_label("Description")).to_be_focused()


def test_escape_on_an_issue_that_one_has_just_opened_leads_to_the_board_and_not_to_its_form(tab: Page) -> None:
    open_issue(tab, "Just opened")
    tab.keyboard.press("Escape")
    tab.wait_for_url("**/demo/board/")


def test_no_letter_acts_with_a_modifier_or_while_a_dialog_is_open(tab: Page) -> None:
    open_issue(tab, "Modified")
    for name in ("Alt+s", "Control+i", "Alt+c"):
        tab.keyboard.press(name)
    tab.keyboard.press("?")
    expect(tab.get_by_role("dialog", name="Keyboard")).to_be_visible()
    for letter in "spalc":
        tab.keyboard.press(letter)
    assert tab.locator("details.menu[open]").count() == 0
    expect(tab.locator("#timeline")).not_to_contain_text("assigned Founder")
    assert "/issues/new/" not in tab.url


@pytest.mark.parametrize(("letter", "choice"), [("s", "In review"), ("p", "Urgent"), ("a", "Me"), ("l", "website")])
def test_a_letter_changes_the_card_that_has_the_focus(letter: str, choice: str, tab: Page) -> None:
    """Keys: S, P, A, L."""
    key = open_issue(tab, f"Lettered {letter}")
    tab.goto("/demo/issues/?text=lettered")
    tab.locator(f"#row-{key} .title").focus()
    tab.keyboard.press(letter)
    chosen = tab.get_by_role("dialog", name=key).get_by_role("button", name=choice, exact=True)
    while not chosen.evaluate("button => button === document.activeElement"):
        tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    row = tab.locator(f"#row-{key}")
    if letter == "l":
        expect(row.locator(".labels")).to_contain_text(choice)
    else:
        expect(row.get_by_role("img", name="Founder (person)" if choice == "Me" else choice)).to_be_visible()
    expect(row.locator(".title")).to_be_focused()


def test_cmd_k_opens_the_palette_as_ctrl_k_does_and_from_a_field_too(tab: Page) -> None:
    """Keys: Ctrl, K."""
    tab.goto("/demo/board/")
    tab.get_by_label("Search issues").focus()
    for name in ("Meta+k", "Control+k"):
        tab.keyboard.press(name)
        expect(tab.get_by_role("dialog", name="Commands")).to_be_visible()
        tab.keyboard.press("Escape")
        expect(tab.get_by_role("dialog", name="Commands")).to_be_hidden()


def test_every_key_is_shown_in_the_tooltip_of_what_it_does(tab: Page) -> None:
    hints = ""
    for address in ("/demo/board/", "/demo/issues/DEMO-1/"):
        tab.goto(address)
        titles = tab.locator("[title]").evaluate_all("all => all.map((one) => one.title)")
        hints += " ".join(re.findall(r"\(([^)]*)\)", " ".join(titles))) + " "
    keys = set(tab.locator("#shortcuts kbd").all_text_contents()) - {"H"}  # of the inbox, where its button names it
    assert {key for key in keys if not re.search(rf"(?<!\w){re.escape(key)}(?!\w)", hints)} == set()


def test_the_list_of_keys_names_every_key_that_the_board_knows(new_tab: NewTab) -> None:
    tab = new_tab()
    tab.goto("/demo/board/")
    tab.keyboard.press("?")
    named = set(tab.locator("#shortcuts kbd").all_text_contents())
    assert named >= {*"SPALICEXMJKRG", "/", "?", "Space", "Enter", "Esc", "Ctrl", "Shift"}
