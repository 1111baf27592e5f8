"""Pictures of every page, in both themes and at three widths: `make screenshots`.

Starts an installation with the demo company, lets its agents tell their story, and writes to docs/screenshots/. Pages
of a crowded company, and some with texts that are longer than ours, come in the light theme alone.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import machine
from tests.browser.conftest import FLAGS
from tests.browser.crowded import LONGER, crowd
from tests.browser.pages import PAGES
from tests.servers import ROOT, Installation

FOLDER = ROOT / "docs" / "screenshots"
THEMES = ("light", "dark")
SIZES = {1440: 900, 768: 1024, 360: 760}
LEFT_OUT = ("not-found", "edit-issue", "terminate", "new-project", "edit-skill", "edit-routine", "snoozed")
LONG = ("home", "board", "list", "issue", "inbox", "run", "agent", "costs", "policy")
"""Pages that are also taken with longer texts."""
STORY_MS = 30_000


def main() -> None:
    if machine.chromium() is None:
        sys.exit("There is no Chromium here: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="trimus-screenshots-") as folder, sync_playwright() as playwright:
        installation = Installation(Path(folder))
        installation.start("--demo")
        try:
            browser = playwright.chromium.launch(executable_path=machine.chromium(), args=list(FLAGS))
            take_all(browser, installation)
        finally:
            installation.stop(signal.SIGTERM)


def take_all(browser: Browser, installation: Installation) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    page = browser.new_page(base_url=installation.url)
    take_log_in(browser, installation.url)
    page.goto(installation.manage("login_link").stdout.strip())
    page.get_by_role("button", name="Log in").click()
    tell_story(page)
    state = page.context.storage_state()
    for theme in THEMES:
        for width, height in SIZES.items():
            context = browser.new_context(
                base_url=installation.url,
                storage_state=state,
                color_scheme=theme,
                viewport={"width": width, "height": height},
                reduced_motion="reduce",
            )
            tab = context.new_page()
            for name, address in PAGES.items():
                if name not in LEFT_OUT:
                    take(tab, address, f"{name}-{theme}-{width}")
            if theme == "light":
                for name in LONG:
                    take(tab, PAGES[name], f"longer-{name}-{width}", prepare=LONGER)
            context.close()
    take_crowd(browser, installation, state)


def take_crowd(browser: Browser, installation: Installation, state: Any) -> None:
    pages = crowd(installation)
    for width, height in SIZES.items():
        tab = browser.new_page(
            base_url=installation.url, storage_state=state, viewport={"width": width, "height": height}
        )
        for name, address in pages.items():
            take(tab, address, f"{name}-{width}")
        tab.close()


def tell_story(page: Page) -> None:
    """Work one issue until its agent asks the board, and hand another one to the triage agent."""
    page.goto("/demo/issues/DEMO-1/")
    page.get_by_role("button", name="Run heartbeat").click()
    expect(page.locator(".approval")).to_be_visible(timeout=STORY_MS)
    page.goto("/demo/issues/DEMO-6/")
    page.get_by_label("Comment", exact=True).fill("@iris who can take this?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator("#timeline")).to_contain_text("assigned Mara", timeout=STORY_MS)
    expect(page.locator("#timeline")).to_contain_text("I plan this in two steps", timeout=STORY_MS)


def take_log_in(browser: Browser, url: str) -> None:
    for theme in THEMES:
        for width, height in SIZES.items():
            tab = browser.new_page(base_url=url, color_scheme=theme, viewport={"width": width, "height": height})
            take(tab, "/login/", f"log-in-{theme}-{width}")
            tab.close()


def take(tab: Page, address: str, name: str, prepare: str = "() => null") -> None:
    tab.goto(address)
    tab.wait_for_function("document.fonts.status === 'loaded'")
    tab.wait_for_timeout(200)  # what is fetched after the page
    tab.evaluate(prepare)
    tab.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
