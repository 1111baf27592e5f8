"""The quick ways: many at once, taking back, the palette, moving by menu, files by paste."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.test_use import column, open_issue


def test_a_move_is_undone_from_its_toast(tab: Page) -> None:
    key = open_issue(tab, "Taken back")
    tab.goto("/demo/board/?text=taken")
    tab.locator(f"#card-{key} .title").focus()
    for name in ("m", "ArrowRight", "m"):
        tab.keyboard.press(name)
    expect(tab.get_by_text(f"{key} is in Todo now.")).to_be_visible()
    tab.get_by_role("button", name="Undo").click()
    expect(tab.get_by_text(f"{key} is as before.")).to_be_visible()
    expect(tab.locator(f"{column(tab, 'backlog')} #card-{key}")).to_be_visible()
