"""What a tool does is done as by any other door: policy, caps, ledger, tenants, and nothing half."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agents.models import Agent, Run, RunAction
from engine.mcp.calls import Api
from engine.mcp.registry import TOOLS
from issues.actors import Person
from issues.models import Activity, Approval, Comment, Company, Grant, Issue, Status
from issues.rights import Right
from issues.services.files import attach_file
from issues.services.policy import change_policy, set_cap
from tests import build
from tests.outside.callers import Rpc

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canary-7f3a"


def ledger() -> list[tuple[str, str]]:
    return [(row.verb, row.outcome) for row in RunAction.objects.order_by("run", "ordinal")]


def test_what_policy_denies_is_an_error_with_the_reason_and_stands_in_the_ledger(
    company: Company, founder: Person, rpc: Rpc, issue: Issue
) -> None:
    change_policy(actor=founder, company=company, permission=Right.LABEL, grant=Grant.DENY)
    build.label(company, "bug")
    rpc.use("claim_issue", issue="ACME-1")
    denied = rpc.use("label", issue="ACME-1", args="bug")
    assert (denied.is_error, denied.data["outcome"]) == (True, "denied")
    assert denied.text == f"Denied: {denied.data['reason']}"
    failed = rpc.use("priority", issue="ACME-1", args="soonish")
    assert (failed.is_error, failed.data["outcome"]) == (True, "failed")
    assert rpc.use("priority", issue="ACME-1", args="high").text == "ACME-1 has priority high."
    assert ledger() == [("label", "denied"), ("priority", "failed"), ("priority", "applied")]


def test_what_the_board_decides_waits_for_it(company: Company, founder: Person, rpc: Rpc, issue: Issue) -> None:
    change_policy(actor=founder, company=company, permission=Right.PRIORITY, grant=Grant.APPROVAL)
    asked = rpc.use("priority", issue="ACME-1", args="high")
    assert (asked.is_error, asked.data["outcome"]) == (False, "approval")
    assert asked.data["approval"] == Approval.objects.get().pk
    assert asked.text.startswith("The board is asked:")


def test_caps_of_a_run_hold_from_call_to_call(company: Company, founder: Person, rpc: Rpc, issue: Issue) -> None:
    set_cap(actor=founder, company=company, verb="create-issue", cap=1)
    rpc.use("claim_issue", issue="ACME-1")
    made = rpc.use("create-issue", issue="ACME-1", args="One", body="priority: high\n---\nText.")
    assert made.text.startswith("ACME-2 is created")
    assert rpc.use("create-issue", issue="ACME-1", args="Two").data["outcome"] == "denied"
    assert list(Issue.objects.filter(parent=issue).values_list("title", "description")) == [("One", "Text.")]


def test_an_issue_that_somebody_holds_is_refused_with_who_and_since_when(
    company: Company, rpc: Rpc, issue: Issue
) -> None:
    build.at_work(build.agent(company, "Bob", adapter="external"), issue)
    refused = rpc.use("claim_issue", issue="ACME-1")
    assert (refused.is_error, refused.data["holder"]) == (True, "bob")
    assert refused.text.startswith("Bob (@bob) holds this issue since")


def test_any_call_renews_what_the_key_holds(rpc: Rpc, issue: Issue) -> None:
    rpc.use("claim_issue", issue="ACME-1")
    run = Run.objects.get()
    Run.objects.update(deadline_at=run.started_at)
    rpc.ask("ping")
    assert Run.objects.get().deadline_at > run.started_at


def test_what_is_refused_has_done_nothing(rpc: Rpc, issue: Issue) -> None:
    before = Activity.objects.count()
    for tool, arguments in (
        ("nonsense", {}),
        ("status", {"issue": "ACME-1"}),
        ("status", {"issue": "ACME-99", "args": "done"}),
        ("note", {"issue": "ACME-1", "args": "two\nlines", "body": "x"}),
        ("list_issues", {"status": "nonsense"}),
        ("get_skill", {"id": 99}),
        ("list_comments", {"issue": "ACME-1", "cursor": "made up"}),
    ):
        assert rpc.use(tool, **arguments).is_error, tool
    assert (Activity.objects.count(), Run.objects.count()) == (before, 0)


def test_what_is_called_again_under_its_name_is_done_once(rpc: Rpc, issue: Issue) -> None:
    """As by a client that lost the answer."""
    for tool, arguments in (
        ("claim_issue", {}),
        ("write_comment", {"body": "Watered."}),
        ("create-issue", {"args": "Buy soil"}),
    ):
        first, again = (rpc.use(tool, issue="ACME-1", idempotency_key=tool, **arguments) for _ in range(2))
        assert not first.is_error, first.text
        assert again == first
    assert (Run.objects.count(), Comment.objects.count(), Issue.objects.count()) == (1, 1, 2)


def test_a_name_that_was_used_for_another_call_or_is_none_is_refused(rpc: Rpc, issue: Issue) -> None:
    assert not rpc.use("write_comment", issue="ACME-1", body="One.", idempotency_key="a").is_error
    for body, key in (("Two.", "a"), ("Two.", "ü"), ("Two.", "a\r\nX: y"), ("Two.", "")):
        assert rpc.use("write_comment", issue="ACME-1", body=body, idempotency_key=key).data["status"] == 422
    assert Comment.objects.count() == 1


def test_whatever_makes_something_can_be_named(rpc: Rpc) -> None:
    unnamed = {tool.name for tool in TOOLS if not tool.reads and "idempotency_key" not in tool.schema["properties"]}
    assert unnamed == {"release_issue"}  # given back twice is an error that does nothing


def test_another_companys_things_do_not_exist(rpc: Rpc) -> None:
    """By every tool there is, so that a new one cannot be forgotten."""
    other, _ = build.company_with_founder("THEM")
    theirs = build.issue(other, CANARY, description=CANARY, assignee=build.agent(other, CANARY))
    build.comment(theirs, CANARY)
    skill = build.skill(other, CANARY, CANARY)
    before = Activity.objects.count()
    values = {
        "issue": theirs.identifier,
        "company": "THEM",
        "id": skill.pk,
        "words": "canary",
        "args": "x",
        "body": "x",
    }
    for tool in TOOLS:
        named = [name for name in values if name in tool.schema["properties"]]
        told = rpc.use(tool.name, **{name: values[name] for name in named})
        assert told.is_error or not named, tool.name
        assert CANARY not in f"{told.text}{told.data}", tool.name
    assert rpc.use("search_issues", words="canary").data == {"results": [], "next": None}
    assert rpc.use("status", issue="THEM-1", args="done").text == "There is no issue THEM-1."
    theirs.refresh_from_db()
    assert (theirs.status, Activity.objects.count()) == (Status.TODO, before)


def test_lists_go_on_where_the_page_before_ended(rpc: Rpc, issue: Issue) -> None:
    for number in range(21):
        build.comment(issue, f"Word {number}")
    read = rpc.use("get_issue", issue="ACME-1").data
    assert [comment["body"] for comment in read["comments"]] == [f"Word {number}" for number in range(1, 21)]
    older = rpc.use("list_comments", issue="ACME-1", cursor=read["older_comments"]).data
    assert ([comment["body"] for comment in older["results"]], older["next"]) == (["Word 0"], None)


def test_a_long_comment_is_cut_beside_the_issue_and_whole_on_its_page(rpc: Rpc, issue: Issue) -> None:
    build.comment(issue, f"{'a' * 4_000}{'b' * 2_000}")
    (comment,) = rpc.use("get_issue", issue="ACME-1").data["comments"]
    assert (comment["characters_cut"], comment["body"].count("a"), comment["body"].count("b")) == (2_000, 2_667, 1_333)
    (whole,) = rpc.use("list_comments", issue="ACME-1", limit=1).data["results"]
    assert len(whole["body"]) == 6_000


def test_what_only_a_model_would_see_and_secrets_are_not_shown(rpc: Rpc, issue: Issue) -> None:
    build.comment(issue, f"Plain\u202e\U000e0041 words, key sk-ant-{'a1' * 20}.\n/status done")
    read = rpc.use("get_issue", issue="ACME-1")
    assert read.data["comments"][0]["body"] == "Plain words, key [masked: Anthropic key].\n/status done"
    assert "\n" not in read.text


def test_files_are_read_where_they_were_written_and_attached(
    rpc: Rpc, ada: Agent, founder: Person, issue: Issue
) -> None:
    attach_file(actor=founder, issue=issue, name="plan.txt", content=b"Water each morning.")
    rpc.use("claim_issue", issue="ACME-1")
    for text in ("Basil.", "Basil, mint."):
        rpc.use("write-file", issue="ACME-1", args="herbs.md", body=text)
    read = rpc.use("get_issue", issue="ACME-1").data
    (file,), (attached,) = read["files"], read["attachments"]
    assert (file["path"], file["version"]) == ("herbs.md", 2)
    assert rpc.use("read_file", id=file["id"]).data["text"] == "Basil, mint."
    assert rpc.use("read_file", id=file["id"], version=1).data["text"] == "Basil."
    assert rpc.use("read_file", id=file["id"], version=9).is_error
    assert rpc.use("read_attachment", id=attached["id"]).data["text"] == "Water each morning."


def test_skills_and_colleagues_are_found(company: Company, rpc: Rpc) -> None:
    skill = build.skill(company, "Pruning", "Cut above a bud.")
    assert [row["name"] for row in rpc.use("list_skills").data["results"]] == ["Pruning"]
    assert rpc.use("get_skill", id=skill.pk).data["body"] == "Cut above a bud."
    team = rpc.use("list_team").data
    assert ([row["handle"] for row in team["agents"]], len(team["members"])) == (["ada"], 1)


def test_a_call_is_done_whole_though_the_client_has_gone() -> None:
    async def story() -> list[str]:
        begun, go_on, done = asyncio.Event(), asyncio.Event(), []

        async def pages(_scope: Any, _receive: Any, send: Any) -> None:
            begun.set()
            await go_on.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            done.append("whole")

        api = Api(pages, at_once=1)
        caller = api.caller({"headers": []})
        call = asyncio.create_task(caller.post("issues/ACME-1/comments", {}))
        await begun.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        go_on.set()
        await asyncio.gather(*api.under_way)
        return done

    assert asyncio.run(story()) == ["whole"]
