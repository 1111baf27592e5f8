"""The board over a slow line, with impatient hands, in two tabs, and while the server is away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_use import open_issue
from tests.servers import Installation

SLOW_MS = 600


def log_in(tab: Page, installation: Installation) -> None:
    tab.goto(installation.manage("login_link").stdout.strip())
    tab.get_by_role("button", name="Log in").click()
    tab.wait_for_url("**/demo/")


@contextmanager
def slow(tab: Page) -> Iterator[None]:
    """Every answer takes a while."""
    network = tab.context.new_cdp_session(tab)
    network.send("Network.enable")
    conditions = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", conditions | {"latency": SLOW_MS})
    yield
    network.send("Network.emulateNetworkConditions", conditions | {"latency": 0})


def test_what_is_sent_twice_over_a_slow_line_arrives_once(tab: Page) -> None:
    open_issue(tab, "Impatience")
    field = tab.get_by_label("Comment", exact=True)
    with slow(tab):
        field.fill("By a double click")
        tab.get_by_role("button", name="Comment", exact=True).dblclick()
        expect(field).to_have_value("")
        field.fill("By two keys")
        field.press("Control+Enter")
        field.press("Control+Enter")
        expect(field).to_have_value("")
        field.fill("By two keys")  # said again once it has arrived, it is meant
        field.press("Control+Enter")
        expect(field).to_have_value("")
    expect(tab.locator(".comment", has_text="By a double click")).to_have_count(1)
    expect(tab.locator(".comment", has_text="By two keys")).to_have_count(2)


def test_a_form_of_a_page_of_its_own_is_sent_once_too(tab: Page) -> None:
    tab.goto("/demo/issues/new/")
    tab.get_by_label("Title").fill("Opened by a double click")
    with slow(tab):
        tab.get_by_role("button", name="Open the issue").dblclick()
        tab.wait_for_url("**/issues/DEMO-*/")
    tab.goto("/demo/issues/?text=double+click&group=none")
    expect(tab.locator("[data-row]", has_text="Opened by a double click")).to_have_count(1)


def test_after_a_new_log_in_in_another_tab_what_stands_in_the_first_can_be_sent(
    new_tab: NewTab, installation: Installation
) -> None:
    """The token of forms changes with each log-in."""
    first = new_tab(expecting=("401", "404"), storage_state=None)
    log_in(first, installation)
    open_issue(first, "Logged out and in")
    first.get_by_label("Comment", exact=True).fill("Still here")
    second = first.context.new_page()
    second.goto("/demo/")
    second.locator(".side .foot summary").click()
    second.get_by_role("button", name="Log out").click()
    second.wait_for_url("**/login/**")
    first.get_by_role("button", name="Comment", exact=True).click()
    expect(first.locator(".toast", has_text="You are logged out.")).to_be_visible()
    log_in(second, installation)
    first.get_by_role("button", name="Comment", exact=True).click()
    expect(first.locator(".comment", has_text="Still here")).to_be_visible()
