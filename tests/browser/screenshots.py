"""Pictures of every page, in both themes and at three widths: `make screenshots`.

Starts an installation with the demo company, lets its agents tell their story, and writes to docs/screenshots/. Pages
of a crowded company, and some with texts that are longer than ours, come in the light theme alone. With names (of
pictures, as `board` or `longer-board`) it takes these alone, and leaves the others where they are.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
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


@dataclass
class Camera:
    """Which pictures are taken, where they go, and whether they go on to the end of the page."""

    folder: Path
    names: list[str]
    whole: bool

    def wants(self, name: str) -> bool:
        return not self.names or name in self.names

    def take(self, tab: Page, address: str, name: str, kind: str, prepare: str = "() => null") -> None:
        if not self.wants(name):
            return
        tab.goto(address)
        tab.wait_for_function("document.fonts.status === 'loaded'")
        tab.wait_for_timeout(200)  # what is fetched after the page
        tab.evaluate(prepare)
        tab.screenshot(path=self.folder / f"{name}-{kind}.png", full_page=self.whole)


def main() -> None:
    parser = argparse.ArgumentParser(description="Take pictures of the board's pages.")
    parser.add_argument("names", nargs="*", help="which; all of them otherwise")
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder, docs/screenshots otherwise")
    parser.add_argument("--whole", action="store_true", help="down to the end of each page")
    asked = parser.parse_args()
    camera = Camera(asked.into, asked.names, asked.whole)
    if machine.chromium() is None:
        sys.exit("There is no Chromium here: apt-get install chromium-headless-shell")
    with tempfile.TemporaryDirectory(prefix="trimus-screenshots-") as folder, sync_playwright() as playwright:
        installation = Installation(Path(folder))
        installation.start("--demo")
        try:
            browser = playwright.chromium.launch(executable_path=machine.chromium(), args=list(FLAGS))
            take_all(camera, browser, installation)
        finally:
            installation.stop(signal.SIGTERM)


def take_all(camera: Camera, browser: Browser, installation: Installation) -> None:
    if not camera.names and camera.folder == FOLDER:
        shutil.rmtree(FOLDER, ignore_errors=True)
    camera.folder.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(base_url=installation.url)
    take_log_in(camera, browser, installation.url)
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
                    camera.take(tab, address, name, f"{theme}-{width}")
            if theme == "light":
                for name in LONG:
                    camera.take(tab, PAGES[name], f"longer-{name}", f"{width}", prepare=LONGER)
            context.close()
    if not camera.names or any(name.startswith("crowded-") for name in camera.names):
        take_crowd(camera, browser, installation, state)


def take_crowd(camera: Camera, browser: Browser, installation: Installation, state: Any) -> None:
    pages = crowd(installation)
    for width, height in SIZES.items():
        tab = browser.new_page(
            base_url=installation.url, storage_state=state, viewport={"width": width, "height": height}
        )
        for name, address in pages.items():
            camera.take(tab, address, name, f"{width}")
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


def take_log_in(camera: Camera, browser: Browser, url: str) -> None:
    for theme in THEMES:
        for width, height in SIZES.items():
            tab = browser.new_page(base_url=url, color_scheme=theme, viewport={"width": width, "height": height})
            camera.take(tab, "/login/", "log-in", f"{theme}-{width}")
            tab.close()


if __name__ == "__main__":
    main()
