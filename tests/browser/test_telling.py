"""What pages tell: when something was, what agents did in between, and what every error means for the reader."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import NewTab, log_in
from tests.browser.test_every_page import faults_of
from tests.browser.test_use import open_issue
from tests.servers import Installation

BUSY = """
    import json

    from agents.services.agents import hire_agent, worker_for
    from agents.services.runs import check_out, release
    from issues.actors import Person
    from issues.models import Company, Priority, Role
    from issues.services.comments import write_comment
    from issues.services.issues import create_issue, set_priority

    company = Company.objects.get(key="DEMO")
    member = company.members.get(role=Role.OWNER)
    owner = Person(member.user, member)
    beaver = company.agents.filter(handle="beaver").first() or hire_agent(
        actor=owner, company=company, name="Beaver", adapter="external"
    )
    issue = create_issue(actor=owner, company=company, title="Much ado", assignee=beaver)
    worker = worker_for(beaver, check_out(actor=worker_for(beaver), issue=issue))
    for priority in (Priority.HIGH, Priority.LOW, Priority.HIGH):
        set_priority(actor=worker, issue=issue, priority=priority)
    write_comment(actor=worker, issue=issue, body="A word of the beaver.")
    release(actor=worker, issue=issue)
    print(json.dumps(f"/demo/issues/{issue.identifier}/"))
"""

VIEWER = """
    from issues.actors import Person
    from issues.models import Company, Role
    from issues.services.accounts import create_user
    from issues.services.companies import add_member, found_company

    user = Company.objects.get(key="DEMO").members.get(role=Role.OWNER).user
    company = found_company(actor=Person(user), name="Looked at", key="LOOK")
    owner = Person(user, company.members.get())
    add_member(actor=owner, company=company, user=create_user(username="vera", name="Vera"), role=Role.VIEWER)
"""

HOUR_MS = 3_600_000
KEPT = "What you wrote is still here. Try again; if it stays so, load the page again."


@pytest.fixture(scope="module")
def busy(installation: Installation) -> str:
    """The address of an issue to which an agent did the like three times."""
    return str(installation.python(BUSY))


def test_like_changes_are_one_entry_and_the_agents_can_be_hidden_for_good(tab: Page, busy: str) -> None:
    """Point 11."""
    tab.goto(busy)
    changes = tab.locator("#timeline .entry.change")
    merged = changes.filter(has_text="set the priority to")
    expect(merged).to_have_count(1)
    expect(merged).to_contain_text(re.compile(r"Beaver .*set the priority to High \(2 times\)"))
    tab.get_by_role("button", name="Hide agents' changes").click()
    expect(merged).to_have_count(0)
    expect(changes.filter(has_text="Beaver")).to_have_count(0)
    expect(tab.locator("#timeline")).to_contain_text("A word of the beaver.")
    expect(changes.filter(has_text="opened the issue")).to_have_count(1)
    tab.reload()
    expect(merged).to_have_count(0)
    tab.get_by_role("button", name="Show agents' changes").click()
    expect(merged).to_have_count(1)


def test_a_time_is_relative_stays_true_and_is_exact_on_hover_in_the_readers_zone(new_tab: NewTab) -> None:
    """Point 17."""
    # Two hours at once end what the page waits for from the server.
    tab = new_tab(timezone_id="Asia/Tokyo", locale="en-GB", expecting=("ERR_",))
    tab.clock.install()
    open_issue(tab, "Timed")
    time = tab.locator("#issue-text time")
    expect(time).to_have_text("just now")
    moment = str(time.get_attribute("datetime"))
    expected = tab.evaluate(
        """moment => new Intl.DateTimeFormat("en-GB",
             { dateStyle: "long", timeStyle: "long", timeZone: "Asia/Tokyo" }).format(new Date(moment))""",
        moment,
    )
    time.hover()
    expect(time).to_have_attribute("title", expected)
    assert "GMT+9" in expected
    tab.clock.fast_forward(2 * HOUR_MS)
    expect(time).to_have_text("2 h ago")


def test_without_scripts_the_exact_time_is_in_the_zone_of_the_profile(new_tab: NewTab) -> None:
    """Point 17."""
    tab = new_tab(java_script_enabled=False)
    tab.goto("/demo/profile/")
    before = tab.get_by_label("Time zone").input_value()
    for zone, sign in (("Asia/Tokyo", "JST"), (before, None)):
        tab.goto("/demo/profile/")
        tab.get_by_label("Time zone").select_option(zone)
        tab.get_by_role("form", name="You").get_by_role("button", name="Save").click()
        tab.goto("/demo/issues/DEMO-1/")
        title = str(tab.locator("#issue-text time").get_attribute("title"))
        assert title.endswith("JST") == (sign is not None)


def told(tab: Page, *words: str) -> None:
    """Wait until a toast of an error says it all."""
    toast = tab.locator(".toast.error").last
    for part in words:
        expect(toast).to_contain_text(part)
    tab.get_by_role("button", name="Dismiss").last.click()


class TestAnError:
    """Point 18: what happened, what was kept, what to do."""

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (lambda route: route.abort(), ("The server did not answer.", "Nothing was lost. Try again.")),
            (lambda route: route.fulfill(status=500), ("That did not work (500).", KEPT)),
            (lambda route: route.fulfill(status=502), ("That did not work (502).", KEPT)),
        ],
        ids=["no answer", "500", "502"],
    )
    def test_of_the_way_to_the_server_keeps_what_was_typed(
        self, answer: object, words: tuple[str], new_tab: NewTab
    ) -> None:
        """Point 18."""
        tab = new_tab(expecting=("ERR_FAILED", "500", "502", "fetch"))
        open_issue(tab, "Far away")
        field = tab.get_by_label("Comment", exact=True)
        field.fill("Not to be lost")
        tab.route("**/comments/", answer)  # type: ignore[arg-type]
        field.press("Control+Enter")
        told(tab, *words)
        expect(field).to_have_value("Not to be lost")
        tab.unroute("**/comments/")
        field.press("Control+Enter")
        expect(tab.locator("#timeline")).to_contain_text("Not to be lost")

    def test_of_the_session_says_where_to_log_in_and_that_the_words_are_kept(self, new_tab: NewTab) -> None:
        """Point 18."""
        tab = new_tab(expecting=("401", "404"))
        open_issue(tab, "Logged out")
        cookies = tab.context.cookies()
        tab.context.clear_cookies(name=next(one["name"] for one in cookies if "session" in one["name"]))
        tab.get_by_label("Comment", exact=True).fill("Still here")
        tab.get_by_label("Comment", exact=True).press("Control+Enter")
        told(tab, "You are logged out.", "Log in in another tab, then send it again: what you wrote is still here.")
        expect(tab.get_by_label("Comment", exact=True)).to_have_value("Still here")

    def test_of_a_form_stands_in_it_with_what_was_filled_in(self, new_tab: NewTab) -> None:
        """Point 18."""
        tab = new_tab(expecting=("409",))
        tab.goto("/demo/skills/new/")
        tab.get_by_label("Name", exact=True).fill("House style")
        tab.get_by_label("Text", exact=True).fill("Short.")
        tab.get_by_role("main").get_by_role("button").first.click()
        expect(tab.get_by_role("alert")).to_be_visible()
        expect(tab.get_by_label("Name", exact=True)).to_have_value("House style")
        expect(tab.get_by_label("Text", exact=True)).to_have_value("Short.")

    def test_of_what_is_not_there_says_so_and_leads_back(self, new_tab: NewTab) -> None:
        """Point 18."""
        tab = new_tab(expecting=("404",))
        tab.goto("/demo/issues/DEMO-999/")
        expect(tab.get_by_role("heading", name="There is nothing here")).to_be_visible()
        expect(tab.get_by_text("The address leads nowhere, or to something that you may not see.")).to_be_visible()
        tab.get_by_role("link", name="Back to the start").click()
        expect(tab.get_by_text("There is nothing here")).to_have_count(0)
        expect(tab.get_by_text("Lighthouse Press").first).to_be_visible()

    def test_of_a_page_that_broke_says_that_trying_again_is_safe(
        self, new_tab: NewTab, installation: Installation
    ) -> None:
        """Point 18."""
        tab = new_tab(expecting=("500",))
        broken = installation.python("""
            import json
            from django.test import RequestFactory
            from trimus.outages import answer_error
            print(json.dumps(answer_error(RequestFactory().get("/")).content.decode()))
        """)
        tab.route("**/demo/board/", lambda route: route.fulfill(status=500, content_type="text/html", body=broken))
        tab.goto("/demo/board/")
        expect(tab.get_by_role("heading", name="Something broke on our side")).to_be_visible()
        expect(tab.get_by_text("What you did last was not kept. Going back and trying again is safe.")).to_be_visible()
        assert faults_of(tab) == []
        tab.get_by_role("link", name="To the start").click()
        expect(tab.get_by_role("heading", level=1)).to_be_visible()

    def test_of_what_one_may_not_do_says_who_may(
        self, new_tab: NewTab, installation: Installation, chromium: Browser
    ) -> None:
        """Point 18."""
        installation.python(VIEWER)
        tab = new_tab(storage_state=log_in(installation, chromium, "--user", "vera"), expecting=("403",))
        tab.goto("/look/issues/new/")
        tab.get_by_label("Title").fill("Not mine to open")
        tab.get_by_role("button", name="Create issue").click()
        expect(tab.get_by_role("alert")).to_contain_text(
            "A viewer may not do this. An owner may, and can change roles."
        )
        expect(tab.get_by_label("Title")).to_have_value("Not mine to open")
