"""The list and the board as places to work in: groups, children, a quick look, and the selection between the two."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewTab
from tests.browser.test_every_page import faults_of
from tests.browser.test_use import open_issue


def open_child(tab: Page, title: str, parent: str) -> str:
    """A new issue below another one; its identifier."""
    tab.goto(f"/demo/issues/new/?status=backlog&parent={parent}")
    tab.get_by_label("Title").fill(title)
    tab.get_by_role("button", name="Create issue").click()
    tab.wait_for_url("**/issues/DEMO-*/")
    return tab.url.rstrip("/").rsplit("/", 1)[-1]


def test_space_looks_at_the_card_and_escape_is_back_at_the_same_place(tab: Page) -> None:
    """Keys: Space, J, Esc."""
    first, second = open_issue(tab, "Peeked one"), open_issue(tab, "Peeked two")
    for view, card in (("board", "card"), ("issues", "row")):
        tab.goto(f"/demo/{view}/?text=peeked")
        title = tab.locator(f"#{card}-{first} .title")
        title.focus()
        tab.keyboard.press("Space")
        panel = tab.get_by_role("complementary", name="Quick look")
        expect(panel.get_by_role("heading", name="Peeked one")).to_be_visible()
        expect(title).to_be_focused()
        assert faults_of(tab) == []
        tab.keyboard.press("j")
        expect(panel.get_by_role("heading", name="Peeked two")).to_be_visible()
        tab.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(tab.locator(f"#{card}-{second} .title")).to_be_focused()
        tab.keyboard.press("Space")
        panel.get_by_role("link", name="Open").focus()
        tab.keyboard.press("Escape")
        expect(tab.locator(f"#{card}-{second} .title")).to_be_focused()
        assert tab.url.endswith("?text=peeked")


def test_a_card_is_looked_at_by_pointer_on_a_phone_and_the_panel_closed(new_tab: NewTab) -> None:
    tab = new_tab(viewport={"width": 360, "height": 760}, has_touch=True)
    key = open_issue(tab, "Pocketed")
    tab.goto("/demo/issues/?text=pocketed")
    tab.get_by_role("link", name=f"Look at {key}").tap()
    panel = tab.get_by_role("complementary", name="Quick look")
    expect(panel.get_by_role("heading", name="Pocketed")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") == 360
    panel.get_by_role("button", name="Close").tap()
    expect(panel).to_be_hidden()


def test_anothers_change_reaches_the_panel_and_the_rows_behind_it(new_tab: NewTab) -> None:
    mine, theirs = new_tab(), new_tab()
    key = open_issue(theirs, "Overlooked")
    mine.goto("/demo/issues/?text=overlooked")
    mine.keyboard.press("j")
    mine.keyboard.press("Space")
    panel = mine.get_by_role("complementary", name="Quick look")
    expect(panel.get_by_role("heading", name="Overlooked")).to_be_visible()
    theirs.locator("[data-menu=s] summary").click()
    theirs.get_by_role("button", name="In review").click()
    expect(mine.locator(f"#group-in_review #row-{key}")).to_be_attached()
    expect(panel.get_by_text("In review")).to_be_visible()
    expect(mine.locator(f"#row-{key} .title")).to_be_focused()


def test_folded_groups_and_children_stay_folded_and_are_walked_past(tab: Page) -> None:
    parent = open_issue(tab, "Folding parent")
    child = open_child(tab, "Folding child", parent)
    grandchild = open_child(tab, "Folding grandchild", child)
    review = open_issue(tab, "Folding review", status="In review")
    tab.goto("/demo/issues/?text=folding")
    order = tab.locator("[data-row]").evaluate_all("rows => rows.map(row => row.dataset.row)")
    assert order == [parent, child, grandchild, review]
    tab.get_by_role("button", name=f"Child issues of {child}").click()
    expect(tab.locator(f"#row-{grandchild}")).to_be_hidden()
    tab.get_by_role("button", name=f"Child issues of {parent}").click()
    expect(tab.locator(f"#row-{child}")).to_be_hidden()
    tab.reload()
    expect(tab.locator(f"#row-{child}")).to_be_hidden()
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    expect(tab.locator(f"#row-{review} .title")).to_be_focused()
    tab.get_by_role("button", name=f"Child issues of {parent}").click()
    expect(tab.locator(f"#row-{child}")).to_be_visible()
    expect(tab.locator(f"#row-{grandchild}")).to_be_hidden()  # as it was left
    tab.locator("#group-in_review summary").click()
    tab.reload()
    expect(tab.locator(f"#row-{review}")).to_be_hidden()
    tab.locator("#group-in_review summary").click()
    expect(tab.locator(f"#row-{review}")).to_be_visible()
    assert faults_of(tab) == []


def test_a_range_leaves_out_what_is_folded_away(tab: Page) -> None:
    """Keys: X, Shift."""
    parent = open_issue(tab, "Ranging parent")
    open_child(tab, "Ranging child", parent)
    open_issue(tab, "Ranging review", status="In review")
    tab.goto("/demo/issues/?text=ranging")
    tab.keyboard.press("j")
    tab.keyboard.press("x")
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("Shift+X")
    expect(tab.get_by_text("3 selected")).to_be_visible()
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name=f"Child issues of {parent}").click()
    tab.locator(f"#row-{parent} .title").focus()
    tab.keyboard.press("x")
    tab.keyboard.press("j")
    tab.keyboard.press("Shift+X")
    expect(tab.get_by_text("2 selected")).to_be_visible()


def test_filters_and_selection_come_along_from_list_to_board_and_back(tab: Page) -> None:
    """Point 9."""
    key = open_issue(tab, "Taken along")
    tab.goto("/demo/issues/?text=taken+along&status=open")
    tab.get_by_label(f"Select {key}").check()
    tab.get_by_role("link", name="Board", exact=True).last.click()
    tab.wait_for_url("**/board/?text=taken+along&status=open")
    expect(tab.get_by_label(f"Select {key}")).to_be_checked()
    expect(tab.get_by_text("1 selected")).to_be_visible()
    tab.get_by_label("Group").select_option(label="Group by assignee")
    tab.wait_for_url("**/board/?group=assignee&text=taken+along&status=open")
    tab.goto("/demo/issues/")
    expect(tab.get_by_text("1 selected")).to_be_hidden()


def test_a_card_is_dragged_to_an_agent_and_is_assigned(tab: Page) -> None:
    """Points 2 and 6."""
    key = open_issue(tab, "Handed over")
    tab.goto("/demo/board/?text=handed&group=assignee")
    noor = tab.locator(".column").filter(has=tab.get_by_role("heading", name="Noor"))
    tab.locator(f"#card-{key}").drag_to(noor.locator("header"))
    expect(tab.get_by_text(f"{key} is assigned to Noor.")).to_be_visible()
    expect(noor.locator(f"#card-{key}")).to_be_visible()
    tab.get_by_role("button", name="Undo").click()
    expect(noor.locator(f"#card-{key}")).to_be_hidden()


def test_a_chip_takes_its_filter_off(tab: Page) -> None:
    """Point 9."""
    tab.goto("/demo/issues/?priority=high&status=open")
    assert faults_of(tab) == []
    tab.get_by_role("link", name="Without Priority: High").click()
    tab.wait_for_url("**/issues/?status=open")


def test_search_shows_where_the_words_stand(tab: Page) -> None:
    open_issue(tab, "Sundial in the garden")
    tab.get_by_label("Search issues").fill("gard sundi")
    tab.keyboard.press("Enter")
    expect(tab.locator("mark").first).to_have_text("Sundi")
    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="Sundial in the garden", level=1)).to_be_visible()


def test_home_runs_and_inbox_follow_what_others_do(new_tab: NewTab) -> None:
    """Point 13."""
    home, runs, inbox, theirs = new_tab(), new_tab(), new_tab(), new_tab()
    home.goto("/demo/")
    runs.goto("/demo/runs/")
    inbox.goto("/demo/inbox/")
    theirs.goto("/demo/issues/new/?status=todo")
    theirs.get_by_label("Title").fill("Followed everywhere")
    theirs.get_by_label("Assignee").select_option(label="Noor")
    theirs.get_by_role("button", name="Create issue").click()
    theirs.wait_for_url("**/issues/DEMO-*/")
    key = theirs.url.rstrip("/").rsplit("/", 1)[-1]
    expect(home.get_by_role("link", name=key, exact=True).first).to_be_visible()
    expect(runs.locator("#runs").get_by_text(key)).to_be_visible()  # once a worker has begun
    expect(inbox.locator("#inbox").get_by_text(key).first).to_be_visible()  # the agent has answered and is done


def test_the_list_keeps_its_place_while_others_change_it(new_tab: NewTab) -> None:
    """Point 13."""
    mine, theirs = new_tab(viewport={"width": 1440, "height": 240}), new_tab()
    key = open_issue(theirs, "Scrolled past")
    mine.goto("/demo/issues/?sort=title")  # in which a priority moves nothing
    mine.locator("[data-menu=v] summary").click()
    mine.evaluate("window.scrollTo(0, 60)")
    theirs.locator("[data-menu=p] summary").click()
    theirs.get_by_role("button", name="Urgent").click()
    expect(mine.locator(f"#row-{key}").get_by_role("img", name="Urgent priority")).to_be_attached()
    assert mine.evaluate("window.scrollY") == 60
    expect(mine.locator("[data-menu=v]")).to_have_attribute("open", "")


def test_a_view_is_renamed_and_shared(tab: Page) -> None:
    """Point 9."""
    tab.goto("/demo/board/?status=open")
    tab.locator("[data-menu=v] summary").click()
    tab.get_by_label("Keep what is selected here").fill("What is open")
    tab.get_by_role("button", name="Keep it", exact=True).click()
    expect(tab.get_by_text("“What is open” is kept.")).to_be_visible()
    tab.goto("/demo/views/")
    tab.get_by_label("Name of What is open").fill("Still open")
    tab.get_by_label("For everybody").check()
    tab.get_by_role("button", name="Save What is open").click()
    expect(tab.get_by_text("“Still open” is changed.")).to_be_visible()
    expect(tab.get_by_label("For everybody")).to_be_checked()
    assert faults_of(tab) == []
    tab.get_by_role("button", name="Delete Still open").click()
    expect(tab.get_by_role("heading", name="No views yet")).to_be_visible()
