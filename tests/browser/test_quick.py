"""The quick ways: many at once, taking back, the palette, moving by menu, files by paste."""

from __future__ import annotations

import base64
import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_every_page import faults_of
from tests.browser.test_use import column, open_issue

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one pixel."""


def test_a_move_is_undone_from_its_toast(tab: Page) -> None:
    """Point 6."""
    key = open_issue(tab, "Taken back")
    tab.goto("/demo/board/?text=taken")
    tab.locator(f"#card-{key} .title").focus()
    for name in ("m", "ArrowRight", "ArrowRight", "ArrowRight", "m"):
        tab.keyboard.press(name)
    expect(tab.get_by_text(f"{key} is in In review now.")).to_be_visible()
    tab.get_by_role("button", name="Undo").click()
    expect(tab.get_by_text(f"{key} is as before.")).to_be_visible()
    expect(tab.locator(f"{column(tab, 'backlog')} #card-{key}")).to_be_visible()


def test_many_are_selected_by_keys_and_changed_at_once(tab: Page, new_tab: NewTab) -> None:
    """Points 6 and 10. Keys: X, Shift."""
    keys = [open_issue(tab, f"Manifold {number}") for number in range(3)]
    tab.goto("/demo/issues/?text=manifold")
    tab.keyboard.press("j")
    tab.keyboard.press("x")
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("Shift+X")
    expect(tab.get_by_text("3 selected")).to_be_visible()
    tab.get_by_role("button", name="Change the selected…").click()
    for key in keys:
        expect(tab.get_by_role("checkbox", name=f"Change {key}")).to_be_checked()
    tab.get_by_label("Assignee").select_option(label="Noor")
    tab.get_by_label("Status").select_option(label="Todo")
    expect(tab.locator("#effects")).to_contain_text("Noor")
    tab.get_by_label("Status").select_option(label="In review")  # which gives the demo's agents nothing to do
    expect(tab.locator("#effects")).to_contain_text("Wakes nobody")
    tab.get_by_role("button", name="Change them").click()
    tab.wait_for_url("**/issues/?text=manifold")
    expect(tab.get_by_text("3 issues are changed.")).to_be_visible()
    tab.get_by_role("button", name="Undo").click()
    expect(tab.locator(f"#row-{keys[0]}").get_by_role("img", name="Backlog")).to_be_visible()
    plain = new_tab(java_script_enabled=False)
    plain.goto("/demo/issues/?text=manifold")
    plain.get_by_label(f"Select {keys[0]}").check()
    plain.get_by_role("button", name="Change the selected…").click()
    plain.get_by_label("Priority").select_option(label="High")
    plain.get_by_role("button", name="Change them").click()
    expect(plain.locator(f"#row-{keys[0]}").get_by_role("img", name="High priority")).to_be_visible()


def test_a_card_is_moved_by_its_menu_on_a_phone(new_tab: NewTab) -> None:
    """Point 2."""
    tab = new_tab(viewport={"width": 360, "height": 760}, has_touch=True)
    key = open_issue(tab, "Pocket")
    tab.goto("/demo/board/?text=pocket")
    tab.get_by_role("link", name=f"Move or change {key}").tap()
    menu = tab.get_by_role("dialog", name=f"{key} Pocket")
    menu.get_by_role("button", name="In review").tap()
    expect(menu).to_be_hidden()
    expect(tab.locator(f"{column(tab, 'in_review')} #card-{key}")).to_be_visible()
    tab.reload()
    expect(tab.locator(f"{column(tab, 'in_review')} #card-{key}")).to_be_visible()
    other = open_issue(tab, "Pocket too", status="In review")
    tab.goto("/demo/board/?text=pocket")
    tab.get_by_role("link", name=f"Move or change {other}").tap()
    tab.get_by_role("dialog", name=f"{other} Pocket too").get_by_role("button", name="To the top").tap()
    cards = tab.locator(f"{column(tab, 'in_review')} [data-card]")
    expect(cards.first).to_have_attribute("data-card", other)
    tab.reload()
    expect(cards.first).to_have_attribute("data-card", other)


def test_keys_change_the_card_that_has_the_focus(tab: Page) -> None:
    """Keys: P, I."""
    key = open_issue(tab, "Focussed")
    tab.goto("/demo/board/?text=focussed")
    tab.keyboard.press("j")
    tab.keyboard.press("p")
    expect(tab.get_by_role("button", name="None")).to_be_focused()
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Enter")
    expect(tab.locator(f"#card-{key}").get_by_role("img", name="Low priority")).to_be_visible()
    expect(tab.locator(f"#card-{key} .title")).to_be_focused()
    tab.keyboard.press("i")
    expect(tab.get_by_text(f"{key} is assigned to Founder.")).to_be_visible()
    expect(tab.locator(f"#card-{key}").get_by_role("img", name="Founder (person)")).to_be_visible()


def test_the_palette_finds_issues_and_acts(tab: Page) -> None:
    """Keys: Ctrl, K."""
    key = open_issue(tab, "Kaleidoscope of reports")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("priority urgent")
    tab.keyboard.press("Enter")
    expect(tab.locator("#facts")).to_contain_text("Urgent")
    tab.goto("/demo/board/?text=kaleidoscope")
    tab.keyboard.press("j")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("status: in rev")
    expect(tab.get_by_role("option", name="Status: In review")).to_be_visible()
    tab.keyboard.press("Enter")
    expect(tab.locator(f"{column(tab, 'in_review')} #card-{key}")).to_be_visible()
    tab.keyboard.press("Control+k")
    tab.keyboard.type("reports kaleido")
    expect(tab.get_by_role("option", name=key)).to_be_visible()
    assert faults_of(tab) == []
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**/issues/{key}/")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("go to")
    expect(tab.get_by_role("option", name="Go to Approvals", exact=True)).to_be_visible()
    tab.keyboard.type(" agents")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/agents/")


def test_a_file_is_dropped_and_pasted_into_a_comment_and_a_refusal_is_said_there(new_tab: NewTab) -> None:
    """Point 7."""
    tab = new_tab(expecting=("422",))
    open_issue(tab, "With files")
    field = tab.get_by_label("Comment", exact=True)
    for kind, holder in (("drop", "dataTransfer"), ("paste", "clipboardData")):
        field.evaluate(
            """(field, [kind, holder]) => {
              const files = new DataTransfer();
              files.items.add(new File(["First this."], `${kind}.txt`, { type: "text/plain" }));
              const event = new Event(kind, { bubbles: true, cancelable: true });
              Object.defineProperty(event, holder, { value: files });
              field.dispatchEvent(event);
            }""",
            [kind, holder],
        )
        expect(field).to_have_value(re.compile(rf"\[{kind}\.txt\]\(/demo/attachments/\d+/{kind}\.txt\)"))
    tab.locator("[data-files]").set_input_files({"name": "none.txt", "mimeType": "text/plain", "buffer": b""})
    expect(tab.locator("[data-uploads]")).to_contain_text("is empty")
    assert faults_of(tab) == []
    tab.get_by_role("button", name="Comment", exact=True).click()
    expect(tab.locator("#timeline").get_by_role("link", name="paste.txt")).to_be_visible()


HELD = """() => {
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (body) {
    window.upload = this.upload;
    window.letGo = () => send.call(this, body);
  };
}"""
"""Holds files back until `letGo`, with a hand on what tells their progress."""


def test_an_image_shows_its_progress_and_then_itself(tab: Page) -> None:
    """Point 7."""
    open_issue(tab, "With a picture")
    tab.evaluate(HELD)
    tab.locator("[data-files]").set_input_files({"name": "dot.png", "mimeType": "image/png", "buffer": DOT})
    bar = tab.get_by_role("progressbar", name="Sending dot.png")
    expect(bar).to_be_visible()
    tab.evaluate("upload.dispatchEvent(new ProgressEvent('progress', { loaded: 1, total: 4 }))")
    assert bar.evaluate("bar => bar.value") == 0.25
    tab.evaluate("letGo()")
    field = tab.get_by_label("Comment", exact=True)
    expect(field).to_have_value(re.compile(r"!\[dot\.png\]\("))
    expect(bar).to_have_count(0)
    field.press("Control+Enter")
    picture = tab.locator("#timeline").get_by_role("img", name="dot.png")
    expect(picture).to_be_visible()
    tab.wait_for_function("picture => picture.complete && picture.naturalWidth === 1", arg=picture.element_handle())


def test_a_file_that_is_too_big_or_of_a_refused_kind_is_not_taken_and_it_is_said_why(new_tab: NewTab) -> None:
    """Point 7."""
    tab = new_tab(expecting=("422",))
    open_issue(tab, "With what does not fit")
    field = tab.get_by_label("Comment", exact=True)
    field.fill("Before.")
    tab.locator("[data-files]").evaluate(
        """input => {
          const files = new DataTransfer();
          files.items.add(new File([new Uint8Array(25 * 1024 * 1024 + 1)], "film.bin"));
          files.items.add(new File(["TOKEN=1"], ".env"));
          input.files = files.files;
          input.dispatchEvent(new Event("change", { bubbles: true }));
        }"""
    )
    lines = tab.locator("[data-uploads] .bad")
    expect(lines.filter(has_text="“film.bin” is larger than 25 MiB, the most that fits.")).to_be_visible()
    expect(lines.filter(has_text=".env")).to_be_visible()
    assert "secrets" in str(lines.filter(has_text=".env").text_content())
    expect(field).to_have_value("Before.")
    assert faults_of(tab) == []
    tab.get_by_role("button", name="Dismiss").first.click()
    expect(lines).to_have_count(1)


def test_a_selection_is_kept_as_a_view_and_found_again(tab: Page) -> None:
    """Point 9."""
    tab.goto("/demo/issues/?priority=high")
    tab.locator("[data-menu=v] summary").click()
    tab.get_by_label("Keep what is selected here").fill("What is high")
    assert faults_of(tab) == []
    tab.get_by_role("button", name="Keep it").click()
    expect(tab.get_by_text("“What is high” is kept.")).to_be_visible()
    tab.goto("/demo/board/")
    tab.locator("[data-menu=v] summary").click()
    tab.get_by_role("link", name="What is high").click()
    tab.wait_for_url("**/issues/?priority=high")
    tab.locator("[data-menu=v] summary").click()
    tab.get_by_role("button", name="Delete “What is high”").click()
    expect(tab.get_by_text("The view “What is high” is deleted.")).to_be_visible()
