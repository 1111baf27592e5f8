"""A running installation with the demo company, and a real browser that is logged in there."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import machine
from tests.servers import Installation

# Without these it looks for updates and hosts that a test machine does not have.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_MS = 15_000
"""A scripted run takes a moment; a slow machine three times that."""

NewTab = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    started = Installation(tmp_path_factory.mktemp("board"))
    started.lay_demo()
    started.start()
    yield started
    started.stop(signal.SIGKILL)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Ends with the folder: while it lives, this thread counts as asynchronous, which Django's queries refuse."""
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=machine.chromium(), args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def session(installation: Installation, chromium: Browser) -> Any:
    """The founder's cookies."""
    return cookies_by(installation.first_link(), chromium)


def log_in(installation: Installation, chromium: Browser, *options: str) -> Any:
    """The cookies of the one whom options of `login_link` name."""
    return cookies_by(installation.manage("login_link", *options).stdout.strip(), chromium)


def cookies_by(link: str, chromium: Browser) -> Any:
    """What a log-in by the link, as people do it, leaves in the browser."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda address: "/login/" not in address)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def new_tab(installation: Installation, chromium: Browser, session: Any) -> Iterator[NewTab]:
    """Opens tabs of the founder, each in a window of its own. What a page of the window complains of fails the test,
    but for complaints that hold one of the words in `expecting`."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_tab(*, expecting: tuple[str, ...] = (), **options: Any) -> Page:
        def complain(words: str) -> None:
            if not any(word in words for word in expecting):
                complaints.append(words)

        settings = {"viewport": {"width": 1440, "height": 900}, "storage_state": session} | options
        context = chromium.new_context(base_url=installation.url, **settings)
        contexts.append(context)
        context.set_default_timeout(WAIT_MS)
        watch(context, installation.url, complain)
        return context.new_page()

    yield open_tab
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def tab(new_tab: NewTab) -> Page:
    return new_tab()


def watch(context: BrowserContext, own: str, complain: Callable[[str], None]) -> None:
    """Tell of errors in scripts, of what the console shows (which is where a browser says what a page's policy
    refused), and of requests to another host than `own`: by any page of the context."""

    def check_host(asked: str) -> None:
        if not asked.startswith((f"{own}/", "data:", f"blob:{own}/")):
            complain(f"asked another host: {asked}")

    context.on("weberror", lambda raised: complain(f"error: {raised.error}"))
    context.on("console", lambda said: complain(said.text) if said.type in ("error", "warning") else None)
    context.on("request", lambda sent: check_host(sent.url))
