"""What a person decides about what agents propose, and whom they let a text call."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.test_use import open_issue
from tests.servers import Installation

RUN = re.compile(r"^run \d+$")
PROPOSAL = """\
We wrote them three times in three ways.

/install-skill Release notes
```
description: How we write release notes
---
List what changed.
```
"""


def propose(installation: Installation, tab: Page, tmp_path: Path, title: str) -> str:
    """Let an agent propose a skill on a new issue; its identifier."""
    key = open_issue(tab, title)
    reply = tmp_path / "reply.md"
    reply.write_text(PROPOSAL)
    installation.manage("heartbeat", key, "--agent", "noor", "--reply-file", str(reply))
    return key


def test_a_proposal_is_approved_as_the_person_wrote_it_anew(
    installation: Installation, tab: Page, tmp_path: Path
) -> None:
    key = propose(installation, tab, tmp_path, "Write down how we do it")
    tab.goto("/demo/approvals/")
    card = tab.locator("article.approval", has_text=key)
    card.get_by_text("Edit it first").click()
    card.get_by_label("/install-skill", exact=True).fill("Notes of a release")
    body = card.get_by_label("Body of /install-skill")
    expect(body).to_have_value("description: How we write release notes\n---\nList what changed.")
    body.fill("description: How we write release notes\n---\nList what changed, and for whom.")
    card.get_by_role("button", name="Approve as edited").click()
    expect(tab.locator(".toast")).to_contain_text("Approved")
    tab.goto("/demo/skills/")
    tab.get_by_role("link", name="Notes of a release").click()
    expect(tab.get_by_text("List what changed, and for whom.")).to_be_visible()
    tab.goto(f"/demo/issues/{key}/")
    tab.locator("#timeline").get_by_role("link", name=RUN).first.click()
    action = tab.locator("#action-0")
    expect(action).to_contain_text("Applied")
    expect(action).to_contain_text("The skill “Notes of a release” is installed.")


def test_a_refusal_with_a_note_stands_with_the_action_on_the_runs_page(
    installation: Installation, tab: Page, tmp_path: Path
) -> None:
    key = propose(installation, tab, tmp_path, "Write it down once more")
    tab.goto(f"/demo/issues/{key}/")
    tab.get_by_label("Note").fill("One is enough.")
    tab.get_by_role("button", name="Refuse").click()
    expect(tab.locator(".toast")).to_contain_text("Refused")
    tab.locator("#timeline").get_by_role("link", name=RUN).first.click()
    action = tab.locator("#action-0")
    expect(action).to_contain_text("Denied")
    expect(action).to_contain_text("refused it: One is enough.")


def test_whom_a_new_issue_calls_is_shown_and_each_can_be_left_out(tab: Page) -> None:
    tab.goto("/demo/issues/new/")
    tab.get_by_label("Title").fill("Called and not called")
    tab.get_by_label("Status").select_option(label="Backlog")
    tab.get_by_label("Description").press_sequentially("For @mara, as @noor and @nobody said.")
    wakes = tab.locator("[data-wakes-place]")
    expect(wakes).to_contain_text("Nobody is called @nobody")
    wakes.get_by_label("Wake Noor").uncheck()
    tab.get_by_role("button", name="Create issue").click()
    tab.wait_for_url("**/issues/DEMO-*/")
    expect(tab.locator(".toast")).to_contain_text("Nobody is called @nobody.")
    tab.goto(f"{tab.url}wakeups/")
    main = tab.locator("main")
    expect(main).to_contain_text("Mara")
    expect(main).not_to_contain_text("Noor")


def test_an_edited_comment_says_whom_it_wakes_once_it_may(tab: Page) -> None:
    """Point 8."""
    tab.goto("/demo/issues/DEMO-8/")
    tab.get_by_label("Comment", exact=True).fill("As I said before.")
    tab.get_by_label("Comment", exact=True).press("Control+Enter")
    written = tab.locator("#timeline article", has_text="As I said before.").last
    expect(written).to_be_visible()
    written.get_by_label("More for this comment").click()
    written.get_by_role("link", name="Edit").click()
    expect(tab.get_by_role("heading", name="Edit a comment")).to_be_visible()
    tab.get_by_label("Comment", exact=True).fill("As @mara said before.")
    wakes = tab.locator("[data-wakes-place]")
    expect(wakes).to_contain_text("Mara")
    expect(wakes).to_be_hidden()
    tab.get_by_label("Wake and tell").check()
    expect(wakes).to_be_visible()
