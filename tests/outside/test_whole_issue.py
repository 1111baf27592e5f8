"""An agent outside of Trimus works an issue from its wakeup to its end."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from mcp.client import Client

from agents.models import Adapter, Agent, Run, RunState
from engine.text.contract import CONTRACT
from issues.models import Comment, Issue, Status
from tests import build
from tests.outside.callers import BEFORE, CURRENT, as_client, key_of
from tests.outside.conftest import Server

pytestmark = pytest.mark.django_db(transaction=True)

COMMENT = "Watered; the soil is wet."


def check_whole_work(ada: Agent, issue: Issue) -> None:
    """The issue is done, in one run that is over, with a comment of it; nothing calls Ada any more."""
    issue.refresh_from_db()
    run, comment = Run.objects.get(), Comment.objects.get()
    assert issue.status == Status.DONE
    assert (run.agent, run.issue, run.adapter, run.state) == (ada, issue, Adapter.EXTERNAL, RunState.SUCCEEDED)
    assert (comment.author_agent, comment.run, comment.body) == (ada, run, COMMENT)
    assert [(one.verb, one.outcome) for one in run.actions.order_by("ordinal")] == [("status", "applied")]
    assert build.pending(ada, issue) == []


@pytest.mark.parametrize(("mode", "revision"), [("auto", CURRENT), ("legacy", BEFORE)])
def test_by_the_protocols_own_client(server: Server, ada: Agent, issue: Issue, mode: str, revision: str) -> None:
    told: dict[str, Any] = {}

    async def story(client: Client) -> None:
        async def use(tool: str, **arguments: Any) -> Any:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            return result.structured_content

        told["revision"], told["instructions"] = client.protocol_version, client.instructions
        told["me"] = await use("who_am_i")
        (call,) = (await use("my_work"))["wakeups"]
        claimed = await use("claim_issue", issue=call["issue"])
        told["called by"] = claimed["wakeups"][0]["asked_by"]["kind"]
        told["read"] = await use("get_issue", issue="ACME-1")
        await use("write_comment", issue="ACME-1", body=COMMENT)
        told["done"] = await use("status", issue="ACME-1", args="done")
        await use("release_issue", issue="ACME-1")

    as_client(server.url, key_of(ada), mode, story)
    assert told["revision"] == revision
    assert told["instructions"].startswith(CONTRACT)
    assert told["me"]["agent"]["instructions"] == "You write plainly."
    assert told["called by"] == "member"
    assert told["read"]["issue"]["description"] == "Each morning."
    assert told["done"]["summary"] == "ACME-1 is done."
    check_whole_work(ada, issue)


def test_by_the_calls_that_the_skill_names(server: Server, ada: Agent, issue: Issue) -> None:
    skill = httpx2.get(f"{server.url}/skill.md").text
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {key_of(ada)}"}) as http:

        def call(line: str, **body: Any) -> Any:
            assert f"`{line}`" in skill
            method, _, address = line.replace("KEY", "ACME").replace("ACME-12", "ACME-1").partition(" ")
            answer = http.request(method, address, json=body or None)
            assert answer.is_success, answer.text
            return answer.json()

        assert call("GET /api/me")["name"] == "Ada"
        (wakeup,) = call("GET /api/wakeups?state=pending")["results"]
        (row,) = call("GET /api/issues?assignee=me&status=open")["results"]
        assert (wakeup["issue"], row["identifier"]) == ("ACME-1", "ACME-1")
        call("POST /api/issues/ACME-12/checkout")
        assert call("GET /api/issues/ACME-12")["description"] == "Each morning."
        acted = call("POST /api/issues/ACME-12/actions", text=f"{COMMENT}\n\n/status done")
        assert [one["outcome"] for one in acted["actions"]] == ["applied"]
        call("POST /api/issues/ACME-12/release")
    check_whole_work(ada, issue)
