"""What the pages show."""

from __future__ import annotations

import re

from django.test import Client

from agents.models import Agent, RunAction
from issues.actors import Person
from issues.models import Company, Status
from issues.services.companies import pause_company
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from issues.services.issues import set_status
from tests import build


def text_of(body: bytes) -> str:
    """The words of a page, as they are read."""
    words = re.sub(r"<(script|svg|style)\b.*?</\1>", " ", body.decode(), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", words).split())


def test_the_board_has_a_column_for_each_status_and_the_card_in_its_own(page: Client, company: Company) -> None:
    build.issue(company, "Write the guide", status=Status.IN_REVIEW)
    body = page.get("/acme/board/").content.decode()
    columns = re.split(r'<section class="column"', body)[1:]
    assert len(columns) == len(Status)
    assert ["Write the guide" in column for column in columns] == [status == Status.IN_REVIEW for status in Status]


def test_filters_are_in_the_address_and_both_views_keep_them(page: Client, company: Company, ada: Agent) -> None:
    build.issue(company, "Hers", assignee=ada)
    build.issue(company, "Nobody's")
    for view in ("board", "issues"):
        body = page.get(f"/acme/{view}/?assignee=agent:{ada.pk}").content.decode()
        assert "Hers" in body
        assert "Nobody&#x27;s" not in body
        assert body.count(f"?assignee=agent%3A{ada.pk}") >= 2


def test_a_filter_of_nonsense_is_no_error(page: Client, company: Company) -> None:
    build.issue(company, "Write the guide")
    query = "status=x&priority=y&assignee=z:1&label=abc&project=-1&only=what&more=nothing"
    for view in ("board", "issues"):
        assert b"Write the guide" in page.get(f"/acme/{view}/?{query}").content


def test_search_goes_straight_to_an_identifier_and_lists_words(page: Client, company: Company) -> None:
    issue = build.issue(company, "Write the guide")
    for words in ("1", "acme-1", "#1"):
        assert page.get("/acme/search/", {"q": words}).headers["Location"] == f"/acme/issues/{issue.identifier}/"
    listed = page.get("/acme/search/", {"q": "guide write"}, follow=True)
    assert "<mark>Write</mark> the <mark>guide</mark>" in listed.content.decode()


def test_an_issues_page_shows_what_happened_in_order(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company, "Write the guide", description="Two *pages*.")
    build.comment(issue, "First words")
    set_status(actor=founder, issue=issue, status=Status.IN_PROGRESS)
    build.comment(issue, "Last words")
    body = page.get("/acme/issues/ACME-1/").content
    words = text_of(body)
    order = ["opened the issue", "First words", "set the status from Todo to In progress", "Last words"]
    assert [words.index(part) for part in order] == sorted(words.index(part) for part in order)
    assert b"Two <em>pages</em>." in body


def test_changes_of_one_actor_in_a_row_are_read_as_one(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company)
    for status in (Status.IN_PROGRESS, Status.IN_REVIEW, Status.DONE):
        set_status(actor=founder, issue=issue, status=status)
    body = page.get("/acme/issues/ACME-1/").content.decode()
    assert body.count('class="entry change"') == 1


def test_an_issue_says_whom_a_comment_wakes_and_why_nothing_runs(page: Client, company: Company, ada: Agent) -> None:
    issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
    words = text_of(page.get(f"/acme/issues/{issue.identifier}/").content)
    assert "A comment wakes Ada" in words
    assert "Why does nothing run here?" in words
    reason = page.get(f"/acme/issues/{issue.identifier}/why/", headers={"HX-Request": "true"}).content.decode()
    assert "backlog" in reason


def test_the_ledger_tells_of_a_wakeup_that_was_refused(page: Client, company: Company, founder: Person) -> None:
    ada = build.agent(company, "Ada")
    page.post("/acme/agents/ada/pause/")
    issue = build.issue(company, assignee=ada)
    words = text_of(page.get(f"/acme/issues/{issue.identifier}/wakeups/").content)
    assert "Refused" in words
    assert "paused" in words


def test_a_scripted_agent_is_said_to_have_no_model(page: Client, ada: Agent) -> None:
    for address in ("/acme/agents/", "/acme/agents/ada/"):
        assert "Scripted, no model" in text_of(page.get(address).content)


def test_agents_are_told_from_people_at_a_glance(page: Client, company: Company, ada: Agent, founder: Person) -> None:
    build.issue(company, assignee=ada)
    build.issue(company, assignee=founder.member)
    body = page.get("/acme/board/").content.decode()
    assert 'class="avatar agent' in body
    assert 'aria-label="Ada (agent)"' in body
    assert 'class="avatar person' in body


def test_a_run_page_shows_prompt_reply_actions_and_what_was_dropped(page: Client, company: Company) -> None:
    agent = build.agent(company, "Cleo", adapter="external")
    issue = build.issue(company, assignee=agent)
    run = build.at_work(agent, issue).run
    assert run is not None
    # What an engine writes of a run; here, so that the page alone is tried.
    run.system_message = "You are Cleo."
    run.user_message = "## Description\n\n> /status done\n> quoted\n\nNot quoted."
    run.prompt_sections = [
        {"title": "Contract", "message": "system", "start": 0, "end": 13, "size": 13, "tokens": 4},
        {"title": "Description", "message": "user", "start": 0, "end": 60, "size": 60, "tokens": 15},
        {"title": "Available Skills", "message": "user", "is_deferred": True},
    ]
    run.reply = "Done \u202ehere.\n/status done\n/statsu x"
    run.dropped = [{"line": "/statsu x", "number": 3, "reason": "unknown-verb"}]
    run.save()
    RunAction.objects.create(
        run=run, ordinal=0, line=2, verb="status", args="done", outcome="denied", reason="Say what was done.",
        before={"status": "todo"}, after={"status": "done"},
    )  # fmt: skip
    body = page.get(f"/acme/runs/{run.pk}/").content.decode()
    words = text_of(body.encode())
    for part in (
        "You are Cleo.", "Not quoted.", "Available Skills left out for want of room", "Denied", "Say what was done.",
        "Line 3: /statsu x , there is no such verb", "60 bytes · 15 tokens", "U+202E", "1 of them invisible",
    ):  # fmt: skip
        assert part in words, part
    assert '<span class="quoted">&gt; /status done\n&gt; quoted</span>' in body
    assert '<span class="acts">/status done</span>' in body
    assert "Assigned by" in words


def test_an_approvals_page_shows_the_whole_payload(page: Client, company: Company) -> None:
    from issues.services.approvals import propose_action

    noor = build.agent(company, "Noor")
    agent = build.agent(company, "Cleo", adapter="external")
    issue = build.issue(company, assignee=agent)
    approval = propose_action(
        actor=build.at_work(agent, issue),
        issue=issue,
        title="/assign @noor",
        payload={
            "actions": [
                {"verb": "assign", "args": "@noor", "values": {"assignee": {"agent": noor.pk}}, "body": "<b>\nend"}
            ]
        },
        explanation="She reads better.",
    )
    body = page.get(f"/acme/approvals/{approval.pk}/").content.decode()
    assert f"agent: {noor.pk} (Noor)" in body
    assert "&lt;b&gt;\nend" in body
    assert "She reads better." in body
    assert f'name="shown" value="{approval.payload_hash}"' in body


def test_home_shows_what_needs_one_what_runs_and_what_happened(page: Client, company: Company, founder: Person) -> None:
    agent = build.agent(company, "Cleo", adapter="external")
    issue = build.issue(company, "Write the guide", assignee=agent)
    build.approval(issue, "Publish it?", actor=build.at_work(agent, issue))
    build.issue(company, "Mine to do", assignee=founder.member)
    words = text_of(page.get("/acme/").content)
    for part in (
        "Publish it?",
        "Cleo on ACME-1 Write the guide",
        "Mine to do",
        "ACME-2 : Acme-founder opened the issue",
    ):
        assert part in words, part


def test_a_paused_company_says_so_on_every_page(page: Client, company: Company, founder: Person) -> None:
    pause_company(actor=founder, company=company)
    assert "nothing starts until" in text_of(page.get("/acme/board/").content)


def test_empty_pages_say_what_they_are_for(page: Client, company: Company) -> None:
    for address, words in (
        ("issues/", "No issues yet"),
        ("runs/", "No runs yet"),
        ("approvals/", "Nothing waits for you"),
        ("inbox/", "All read"),
        ("agents/", "No agents yet"),
    ):
        assert words in text_of(page.get(f"/acme/{address}").content)


def test_times_are_in_the_readers_own_zone(page: Client, company: Company, founder: Person) -> None:
    founder.user.time_zone = "Asia/Tokyo"
    founder.user.save()
    build.issue(company)
    assert "JST" in page.get("/acme/issues/ACME-1/").content.decode()


def test_whoever_can_decide_somewhere_sees_there_what_would_be_done(page: Client, company: Company) -> None:
    from issues.services.approvals import propose_action

    agent = build.agent(company, "Cleo", adapter="external")
    issue = build.issue(company, assignee=agent)
    payload = {"actions": [{"verb": "create-issue", "args": "Sell the house", "values": {}, "body": "Tomorrow."}]}
    worker = build.at_work(agent, issue)
    propose_action(actor=worker, issue=issue, title="/create-issue", payload=payload, explanation="")
    for address in ("inbox/", "approvals/", f"issues/{issue.identifier}/", ""):
        words = text_of(page.get(f"/acme/{address}").content)
        assert "/create-issue Sell the house" in words, address
        assert "Tomorrow." in words, address


def test_a_page_says_where_a_secret_stands_and_what_to_do(page: Client, company: Company, founder: Person) -> None:
    secret = f"ghp_{'a1' * 20}"
    ada = build.agent(company, "Cy", adapter="external")
    issue = build.issue(company, "Deploy", description=f"With {secret}.", assignee=ada)
    build.comment(issue, f"I said {secret}.")
    worker = build.at_work(ada, issue)
    attach_file(actor=founder, issue=issue, name="a.txt", content=secret.encode())
    finding = record_finding(actor=worker, issue=issue, body=f"It is {secret}.")
    file = write_file(actor=worker, issue=issue, path="b.txt", text=secret).file
    at = f"/acme/issues/{issue.identifier}/"
    words = text_of(page.get(at).content)
    for what in ("This issue", "This comment"):
        assert f"{what} seems to hold a secret: GitHub token. Agents are shown it masked, people as it is." in words
    assert words.count("Revoke it") == 3  # the attachment, too
    assert "This finding seems to hold a secret" in text_of(page.get(f"{at}findings/{finding.pk}/").content)
    assert "This version seems to hold a secret" in text_of(page.get(f"{at}files/{file.pk}/").content)
