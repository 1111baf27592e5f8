"""The board over a slow line, with impatient hands, in two tabs, and while the server is away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import NewTab
from tests.browser.test_use import column, open_issue
from tests.servers import Installation

SLOW_MS = 600


def log_in(tab: Page, installation: Installation) -> None:
    tab.goto(installation.manage("login_link").stdout.strip())
    tab.get_by_role("button", name="Log in").click()
    tab.wait_for_url("**/demo/")


def log_out(tab: Page) -> None:
    tab.goto("/demo/")
    tab.locator(".side .foot summary").click()
    tab.get_by_role("button", name="Log out").click()
    tab.wait_for_url("**/login/**")


def press(tab: Page, key: str, *presses: str) -> None:
    """Keys, one after the other, on the card of that issue."""
    tab.locator(f"[data-card={key}] .title").focus()
    for one in presses:
        tab.keyboard.press(one)


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
        field.fill("By hand")
        field.press("Control+Enter")
        field.press("Control+Enter")
        expect(field).to_have_value("")
        field.fill("By hand")  # said again once it has arrived, it is meant
        field.press("Control+Enter")
        expect(field).to_have_value("")
    expect(tab.locator(".comment", has_text="By a double click")).to_have_count(1)
    expect(tab.locator(".comment", has_text="By hand")).to_have_count(2)


def test_a_form_of_a_page_of_its_own_is_sent_once_too(tab: Page) -> None:
    tab.goto("/demo/issues/new/")
    tab.get_by_label("Title").fill("Opened by a double click")
    with slow(tab):
        tab.get_by_role("button", name="Create issue").dblclick()
        tab.wait_for_url("**/issues/DEMO-*/")
    tab.goto("/demo/issues/?text=double+click&group=none")
    # To the letter: the agents of the demo may have made a draft of it by now.
    expect(tab.get_by_text("Opened by a double click", exact=True)).to_have_count(1)


def test_after_a_new_log_in_in_another_tab_what_stands_in_the_first_can_be_sent(
    new_tab: NewTab, installation: Installation
) -> None:
    """The token of forms changes with each log-in."""
    first = new_tab(expecting=("401", "404"), storage_state=None)
    log_in(first, installation)
    open_issue(first, "Logged out and in")
    first.get_by_label("Comment", exact=True).fill("Still here")
    second = first.context.new_page()
    log_out(second)
    first.get_by_role("button", name="Comment", exact=True).click()
    expect(first.locator(".toast", has_text="You are logged out.")).to_be_visible()
    log_in(second, installation)
    first.get_by_role("button", name="Comment", exact=True).click()
    expect(first.locator(".comment", has_text="Still here")).to_be_visible()


def test_what_stands_in_a_page_is_sent_by_nobody_else_and_drafts_are_of_one_person(
    new_tab: NewTab, installation: Installation
) -> None:
    """The cookie that says who is logged in tells the page that it is another."""
    first = new_tab(expecting=("401", "403", "404"), storage_state=None)
    log_in(first, installation)
    open_issue(first, "One browser, two people")
    first.get_by_label("Comment", exact=True).fill("Half a thought")
    mine = first.evaluate("document.body.dataset.who")
    assert first.evaluate("who => Object.keys(localStorage).some(key => key.includes(who))", mine)
    second = first.context.new_page()
    log_out(second)
    log_in(second, installation)
    first.context.add_cookies([{"name": mine.partition("=")[0], "value": "0", "url": installation.url}])
    first.get_by_role("button", name="Comment", exact=True).click()
    expect(first.locator(".toast", has_text="That did not work (403).")).to_be_visible()
    expect(first.locator(".comment", has_text="Half a thought")).to_have_count(0)


def test_what_is_done_to_cards_faster_than_the_line_allows_is_all_done(tab: Page) -> None:
    keys = [open_issue(tab, f"In a hurry {number}") for number in range(3)]
    tab.goto("/demo/board/")
    with slow(tab):
        for key in keys:
            press(tab, key, "i")
        for key in keys:
            press(tab, key, "m", "ArrowRight", "m")
        expect(tab.locator(".toast", has_text="is in Todo now.")).to_have_count(3)
    tab.reload()
    for key in keys:
        expect(tab.locator(f"{column(tab, 'todo')} [data-card={key}]").get_by_label("Founder (person)")).to_be_visible()


def test_a_move_of_which_the_server_did_not_hear_is_taken_back(new_tab: NewTab) -> None:
    tab = new_tab(expecting=("ERR_FAILED", "fetch"))
    key = open_issue(tab, "Moved in a tunnel")
    tab.goto("/demo/board/")
    for address in ("**/move/", "**/board/", "**/events/**", "**/changes/**"):
        tab.route(address, lambda route: route.abort())
    press(tab, key, "m", "ArrowRight", "m")
    expect(tab.locator(".toast.error", has_text="The server did not answer.")).to_have_count(1)
    expect(tab.locator(f"{column(tab, 'backlog')} [data-card={key}]")).to_be_visible()


def test_a_lifted_card_stays_in_the_hand_until_one_goes_elsewhere(tab: Page) -> None:
    keys = [open_issue(tab, f"At hand {number}") for number in range(2)]
    tab.goto("/demo/board/")
    with slow(tab):
        press(tab, keys[0], "m", "ArrowRight", "m")
        press(tab, keys[1], "m", "ArrowRight")
        expect(tab.locator(".toast", has_text=f"{keys[0]} is in Todo now.")).to_be_visible()
        tab.wait_for_timeout(3 * SLOW_MS)  # by then the columns have come that the first move made true
        expect(tab.locator(f"{column(tab, 'todo')} [data-card={keys[1]}].lifted")).to_be_visible()
    tab.keyboard.press("/")
    tab.keyboard.type("mm")
    expect(tab.get_by_label("Search issues")).to_have_value("mm")
    expect(tab.locator(f"{column(tab, 'backlog')} [data-card={keys[1]}]")).to_be_visible()
    expect(tab.locator(".lifted")).to_have_count(0)


def test_a_page_whose_session_ended_says_so_once_asks_no_more_and_goes_on_after_a_log_in(
    new_tab: NewTab, installation: Installation
) -> None:
    mine, theirs = new_tab(expecting=("401", "404"), storage_state=None), new_tab()
    log_in(mine, installation)
    mine.goto("/demo/board/")
    expect(mine.locator("#columns")).to_be_visible()
    away = mine.context.cookies()
    mine.context.clear_cookies()
    asked: list[str] = []
    mine.on("request", lambda request: asked.append(request.url))
    open_issue(theirs, "Opened while others are logged out")
    expect(mine.get_by_text("Logged out: this page stands still.")).to_be_visible()
    mine.wait_for_timeout(1_500)
    assert len(asked) < 5
    expect(mine.locator(".toast")).to_have_count(0)
    mine.context.add_cookies(away)  # type: ignore[arg-type]
    mine.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(mine.get_by_text("Logged out: this page stands still.")).to_be_hidden()
    expect(mine.get_by_text("Opened while others are logged out")).to_be_visible()


def test_a_part_that_could_not_be_fetched_is_fetched_again(new_tab: NewTab) -> None:
    mine, theirs = new_tab(expecting=("ERR_FAILED", "fetch")), new_tab()
    mine.goto("/demo/board/")
    failed: list[str] = []

    def fail_once(route: Route) -> None:
        if failed:
            route.fallback()
        else:
            failed.append(route.request.url)
            route.abort()

    mine.route("**/board/", fail_once)
    open_issue(theirs, "Fetched at the second try")
    expect(mine.get_by_text("Fetched at the second try")).to_be_visible(timeout=20_000)
    assert failed
    expect(mine.locator(".toast")).to_have_count(0)


def test_words_typed_while_a_comment_is_on_its_way_stay(tab: Page) -> None:
    open_issue(tab, "Quick fingers")
    field = tab.get_by_label("Comment", exact=True)
    with slow(tab):
        field.fill("Sent first.")
        field.press("Control+Enter")
        field.press_sequentially(" Typed after.")
        expect(field).to_have_value("Typed after.")
    expect(tab.locator(".comment .prose", has_text="Sent first.")).to_have_text("Sent first.")
    tab.reload()
    expect(field).to_have_value("Typed after.")


def test_who_was_left_out_stays_left_out_while_others_change_the_issue(new_tab: NewTab) -> None:
    mine, theirs = new_tab(), new_tab()
    key = open_issue(mine, "Not for Mara")
    mine.get_by_label("Comment", exact=True).fill("@mara need not see this.")
    mine.get_by_label("Wake Mara").uncheck()
    theirs.goto(f"/demo/issues/{key}/")
    theirs.get_by_label("Comment", exact=True).fill("Said meanwhile")
    theirs.get_by_role("button", name="Comment", exact=True).click()
    expect(mine.locator("#timeline")).to_contain_text("Said meanwhile")
    with mine.expect_request("**/comments/") as sent:
        mine.get_by_role("button", name="Comment", exact=True).click()
    assert "without=mara" in (sent.value.post_data or "")


def test_words_that_are_pasted_with_a_picture_of_themselves_are_words(tab: Page) -> None:
    open_issue(tab, "From a spreadsheet")
    taken = tab.get_by_label("Comment", exact=True).evaluate(
        """(field) => {
            const carried = new DataTransfer();
            carried.items.add(new File(["…"], "cells.png", { type: "image/png" }));
            carried.setData("text/plain", "1\\t2");
            const paste = { clipboardData: carried, bubbles: true, cancelable: true };
            return !field.dispatchEvent(new ClipboardEvent("paste", paste));
        }"""
    )
    assert not taken
    expect(tab.locator("[data-uploads]")).to_be_empty()


def test_an_edit_under_way_outlives_what_one_changes_beside_it(tab: Page) -> None:
    open_issue(tab, "Half")
    tab.keyboard.press("e")
    tab.get_by_label("Title").fill("Half written")
    tab.get_by_title("Set the status (S)").click()
    tab.locator("#facts").get_by_role("button", name="Todo").click()
    expect(tab.get_by_title("Set the status (S)")).to_have_text("Todo")
    expect(tab.get_by_label("Title")).to_have_value("Half written")
    tab.get_by_label("Title").press("Control+Enter")
    expect(tab.get_by_role("heading", name="Half written", level=1)).to_be_visible()
