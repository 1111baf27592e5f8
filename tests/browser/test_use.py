"""Working on the board: by mouse, by keyboard, beside others, and without scripts."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.servers import Installation

NEWCOMER = """
    from issues.actors import Person
    from issues.services.accounts import create_user
    from issues.services.companies import found_company

    found_company(actor=Person(create_user(username="penn", name="Penn")), name="Paper", key="PAPER")
"""


def open_issue(tab: Page, title: str, status: str = "Backlog") -> str:
    """A new issue through the form; its identifier."""
    tab.goto("/demo/issues/new/")
    tab.get_by_label("Title").fill(title)
    tab.get_by_label("Status").select_option(label=status)
    tab.get_by_role("button", name="Create issue").click()
    tab.wait_for_url("**/issues/DEMO-*/")
    return tab.url.rstrip("/").rsplit("/", 1)[-1]


def column(tab: Page, status: str) -> str:
    return f"#column-{status} [data-cards]"


def test_a_card_is_dragged_to_a_place_and_stays_there(tab: Page) -> None:
    """Point 2."""
    one, two = open_issue(tab, "Dragged one"), open_issue(tab, "Dragged two", status="In review")
    tab.goto("/demo/board/")
    tab.locator(f"#card-{one}").drag_to(tab.locator(f"#card-{two}"), target_position={"x": 60, "y": 4})
    expect(tab.get_by_text(f"{one} is in In review now.")).to_be_visible()
    tab.reload()
    cards = tab.locator(f"{column(tab, 'in_review')} [data-card]")
    order = cards.evaluate_all("cards => cards.map(card => card.dataset.card)")
    assert order.index(one) == order.index(two) - 1


def test_a_card_is_moved_by_the_keyboard_and_it_is_said(tab: Page) -> None:
    """Point 2. Keys: M, Esc."""
    key = open_issue(tab, "Carried by keys")
    tab.goto("/demo/board/")
    tab.locator(f"#card-{key} .title").focus()
    tab.keyboard.press("m")
    expect(tab.locator("#announcer")).to_contain_text(f"{key} is lifted")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Escape")
    expect(tab.locator("#announcer")).to_contain_text("is back in Backlog")
    for name in ("m", "ArrowRight", "ArrowRight", "ArrowRight", "m"):
        tab.keyboard.press(name)
    expect(tab.get_by_text(f"{key} is in In review now.")).to_be_visible()
    tab.reload()
    expect(tab.locator(f"{column(tab, 'in_review')} #card-{key}")).to_be_visible()


def test_the_keyboard_gives_a_card_its_place_in_a_column_and_it_stays_there(tab: Page) -> None:
    """Point 2. Keys: M."""
    keys = [open_issue(tab, f"Rung {number}", status="In review") for number in range(3)]
    tab.goto("/demo/board/?text=rung")
    cards = tab.locator(f"{column(tab, 'in_review')} [data-card]")
    tab.locator(f"#card-{keys[2]} .title").focus()
    for name in ("m", "ArrowUp", "ArrowUp"):
        tab.keyboard.press(name)
    expect(tab.locator("#announcer")).to_have_text("In review, place 1 of 3")
    tab.keyboard.press("ArrowDown")
    expect(tab.locator("#announcer")).to_have_text("In review, place 2 of 3")
    tab.keyboard.press("m")
    expect(tab.get_by_text(f"{keys[2]} is in In review now.")).to_be_visible()
    tab.reload()
    order = cards.evaluate_all("cards => cards.map(card => card.dataset.card)")
    assert order == [keys[0], keys[2], keys[1]]


def test_a_refused_move_puts_the_card_back_and_says_why(new_tab: NewTab) -> None:
    """Point 3."""
    tab = new_tab(expecting=("409",))
    key = open_issue(tab, "Refused")
    tab.goto("/demo/board/")
    tab.route("**/move/", lambda route: route.fulfill(
        status=409, headers={"HX-Trigger": '{"trimus:toast": {"text": "It may not move.", "error": true}}'}
    ))  # fmt: skip
    tab.locator(f"#card-{key}").drag_to(tab.locator("#column-in_review header"))
    expect(tab.get_by_text("It may not move.")).to_be_visible()
    expect(tab.locator(f"{column(tab, 'backlog')} #card-{key}")).to_be_visible()


def test_an_open_menu_stays_open_while_others_change_the_issue(new_tab: NewTab) -> None:
    """Point 13."""
    mine, theirs = new_tab(), new_tab()
    key = open_issue(theirs, "Open menu")
    mine.goto(f"/demo/issues/{key}/")
    mine.locator("[data-menu=p] summary").click()
    theirs.get_by_label("Comment", exact=True).fill("A word from the side")
    theirs.get_by_role("button", name="Comment", exact=True).click()
    expect(theirs.locator("#timeline")).to_contain_text("A word from the side")
    mine.wait_for_timeout(1_500)
    expect(mine.locator("[data-menu=p]")).to_have_attribute("open", "")
    mine.get_by_role("button", name="Urgent").click()
    expect(mine.locator("#timeline")).to_contain_text("A word from the side")
    expect(mine.locator("#facts")).to_contain_text("Urgent")


def test_a_lost_stream_is_said_and_made_up_for(new_tab: NewTab) -> None:
    """Point 13."""
    mine, theirs = new_tab(expecting=("ERR_FAILED",)), new_tab()
    key = open_issue(theirs, "While away")
    blocked = True

    def pass_or_fail(route: object) -> None:
        route.abort() if blocked else route.fallback()  # type: ignore[attr-defined]

    mine.route("**/events/**", pass_or_fail)
    mine.route("**/changes/**", pass_or_fail)
    mine.goto(f"/demo/issues/{key}/")
    expect(mine.get_by_text("Reconnecting…")).to_be_visible()
    theirs.get_by_label("Comment", exact=True).fill("Said meanwhile")
    theirs.get_by_role("button", name="Comment", exact=True).click()
    blocked = False
    expect(mine.locator("#timeline")).to_contain_text("Said meanwhile", timeout=20_000)
    expect(mine.get_by_text("Reconnecting…")).to_be_hidden()


def test_a_draft_outlives_a_reload_and_ends_when_it_is_sent(tab: Page) -> None:
    """Point 5."""
    key = open_issue(tab, "Draft")
    field = tab.get_by_label("Comment", exact=True)
    field.press_sequentially("Long words that took a while")
    tab.reload()
    expect(field).to_have_value("Long words that took a while")
    tab.get_by_role("button", name="Preview").click()
    expect(tab.locator(".preview")).to_contain_text("Long words")
    tab.get_by_role("button", name="Write").click()
    tab.get_by_role("button", name="Comment", exact=True).click()
    expect(field).to_have_value("")
    tab.goto(f"/demo/issues/{key}/")
    expect(field).to_have_value("")


def test_words_are_kept_when_the_session_ends_before_they_are_sent(new_tab: NewTab) -> None:
    """Point 5."""
    tab = new_tab(expecting=("401", "404"))
    key = open_issue(tab, "Logged out")
    tab.get_by_label("Comment", exact=True).fill("Not to be lost")
    cookies = tab.context.cookies()
    tab.context.clear_cookies()
    tab.context.add_cookies([cookie for cookie in cookies if "session" not in cookie["name"]])  # type: ignore[misc]
    tab.get_by_role("button", name="Comment", exact=True).click()
    expect(tab.get_by_text("You are logged out.")).to_be_visible()
    expect(tab.get_by_label("Comment", exact=True)).to_have_value("Not to be lost")
    tab.context.add_cookies(cookies)  # type: ignore[arg-type]
    tab.goto(f"/demo/issues/{key}/")
    expect(tab.get_by_label("Comment", exact=True)).to_have_value("Not to be lost")


def test_the_keys_do_what_the_list_of_keys_says(tab: Page) -> None:
    """Keys: J, Enter, S, I, ?, R, /, G, C and Esc."""
    key = open_issue(tab, "Keys")
    tab.goto("/demo/board/?text=keys")
    tab.keyboard.press("j")
    expect(tab.locator(f"#card-{key} .title")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="Keys", level=1)).to_be_visible()
    tab.keyboard.press("s")
    expect(tab.locator("[data-menu=s]")).to_have_attribute("open", "")
    expect(tab.get_by_role("button", name="Backlog")).to_be_focused()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    expect(tab.locator("#facts")).to_contain_text("In review")
    expect(tab.locator("[data-menu=s] summary")).to_be_focused()
    tab.keyboard.press("i")
    expect(tab.locator("#timeline")).to_contain_text("assigned Founder")
    tab.keyboard.press("?")
    expect(tab.get_by_role("dialog", name="Keyboard")).to_be_visible()
    tab.keyboard.press("Escape")
    tab.keyboard.press("r")
    expect(tab.get_by_label("Comment", exact=True)).to_be_focused()
    tab.keyboard.type("c / ? are letters in a field")
    expect(tab.get_by_label("Comment", exact=True)).to_have_value("c / ? are letters in a field")
    tab.keyboard.press("Escape")
    tab.keyboard.press("Escape")
    tab.wait_for_url("**/board/?text=keys")
    tab.keyboard.press("/")
    expect(tab.get_by_label("Search issues")).to_be_focused()
    tab.keyboard.press("Escape")
    tab.keyboard.press("g")
    tab.keyboard.press("a")
    tab.wait_for_url("**/agents/")
    tab.keyboard.press("c")
    tab.wait_for_url("**/issues/new/")


def test_search_by_number_opens_the_issue(tab: Page) -> None:
    tab.goto("/demo/board/")
    tab.get_by_label("Search issues").fill("2")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/issues/DEMO-2/")


def test_without_scripts_one_logs_in(new_tab: NewTab, installation: Installation) -> None:
    """Point 14. By a link, and with the password that the link let one set."""
    installation.python(NEWCOMER)
    tab = new_tab(java_script_enabled=False, storage_state=None, expecting=("422",))
    tab.goto(installation.manage("login_link", "--user", "penn").stdout.strip())
    tab.get_by_role("button", name="Log in").click()
    tab.goto("/paper/profile/")
    tab.get_by_label("New password").fill("never-before-seen-7")
    tab.get_by_label("The same again").fill("never-before-seen-7")
    tab.get_by_role("button", name="Set the password").click()
    tab.context.clear_cookies()
    tab.goto("/paper/board/")
    tab.get_by_label("User name").fill("penn")
    tab.get_by_label("Password").fill("wrong")
    tab.get_by_role("button", name="Log in").click()
    expect(tab.get_by_role("alert")).to_be_visible()
    tab.get_by_label("Password").fill("never-before-seen-7")
    tab.get_by_role("button", name="Log in").click()
    expect(tab.get_by_role("heading", name="Board", level=1)).to_be_visible()


def test_without_scripts_one_reads_comments_and_changes_the_status(new_tab: NewTab) -> None:
    """Point 14."""
    tab = new_tab(java_script_enabled=False)
    key = open_issue(tab, "No scripts")
    tab.get_by_label("Comment", exact=True).fill("Sent the plain way")
    tab.get_by_role("button", name="Comment", exact=True).click()
    expect(tab.locator("#timeline")).to_contain_text("Sent the plain way")
    tab.locator("[data-menu=s] summary").click()
    tab.get_by_role("button", name="In review").click()
    expect(tab.locator("#facts")).to_contain_text("In review")
    tab.goto("/demo/issues/")
    tab.get_by_label("Words in title, description or comments").fill("No scripts")
    tab.get_by_role("button", name="Filter").click()
    expect(tab.locator(f"#row-{key}")).to_be_visible()


def test_a_hidden_tab_lets_go_of_its_stream_and_catches_up(new_tab: NewTab) -> None:
    """Point 13."""
    mine, theirs = new_tab(), new_tab()
    key = open_issue(theirs, "Behind")
    mine.goto(f"/demo/issues/{key}/")
    hide = """(hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    with mine.expect_event("requestfailed", lambda request: "/events/" in request.url):
        mine.evaluate(hide, True)
    theirs.get_by_label("Comment", exact=True).fill("Said behind its back")
    theirs.get_by_role("button", name="Comment", exact=True).click()
    expect(theirs.locator("#timeline")).to_contain_text("Said behind its back")
    assert "Said behind its back" not in (mine.locator("#timeline").text_content() or "")
    mine.evaluate(hide, False)
    expect(mine.locator("#timeline")).to_contain_text("Said behind its back")
