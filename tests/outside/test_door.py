"""Who comes in at `/mcp`, and what becomes of who does not."""

from __future__ import annotations

import asyncio
import datetime
import json
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, Run
from agents.services.agents import pause_agent, terminate_agent
from engine.mcp import server as protocol
from engine.mcp.door import Door
from issues.actors import Person
from issues.models import ApiKey, Comment, Company, Issue, Status
from issues.rest import rates
from issues.rest.rates import SECONDS_AT_ONCE, Rates
from issues.services.keys import create_run_key, create_user_key, revoke_key
from tests import build
from tests.outside.callers import CURRENT, Result, Rpc, key_of
from tests.outside.conftest import Server

pytestmark = pytest.mark.django_db(transaction=True)

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
DAY = datetime.timedelta(days=1)


def test_without_a_key_it_says_where_to_get_one(server: Server) -> None:
    for query in ("", "?key=trm_0"):
        answer = Rpc(server.url).send(LIST, query=query)
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="Trimus"')
        assert answer.json()["detail"] == "No key came with the call."
        assert "Settings, API keys" in answer.json()["hint"]


def test_a_key_that_is_unknown_expired_or_revoked_or_of_somebody_gone_does_not_open(
    server: Server, founder: Person, ada: Agent, company: Company
) -> None:
    expired = key_of(ada, expires_at=timezone.now() - DAY)
    revoked = key_of(ada)
    revoke_key(actor=founder, key=ApiKey.objects.latest("pk"))
    bob = build.agent(company, "Bob", adapter="external")
    gone = key_of(bob)
    terminate_agent(actor=founder, agent=bob)
    for key in ("nonsense", f"trm_{'0' * 48}", expired, revoked, gone):
        answer = Rpc(server.url, key).send(LIST)
        assert (answer.status_code, answer.json()["title"]) == (401, "Unauthenticated"), key


def test_a_key_that_reads_changes_nothing(server: Server, ada: Agent, issue: Issue) -> None:
    rpc = Rpc.reading(server.url, ada)
    assert rpc.use("get_issue", issue="ACME-1").data["issue"]["title"] == "Water the herbs"
    for tool, arguments in (
        ("claim_issue", {}),
        ("release_issue", {}),
        ("write_comment", {"body": "x"}),
        ("status", {"args": "done"}),
    ):
        refused = rpc.use(tool, issue="ACME-1", **arguments)
        assert (refused.is_error, refused.text) == (True, "This key only reads. Make one that writes, too.")
    issue.refresh_from_db()
    assert (issue.status, Run.objects.count(), Comment.objects.count()) == (Status.TODO, 0, 0)


def test_a_paused_agent_reads_and_is_told_who_can_resume_it(
    founder: Person, ada: Agent, rpc: Rpc, issue: Issue
) -> None:
    pause_agent(actor=founder, agent=ada)
    assert not rpc.use("my_work").is_error
    assert rpc.use("claim_issue", issue="ACME-1").text == "@ada is paused. The board can resume it."


def test_the_key_of_a_run_acts_in_it_and_dies_with_it(server: Server, ada: Agent, rpc: Rpc, issue: Issue) -> None:
    run = build.at_work(ada, issue).run
    assert run is not None
    key = create_run_key(run=run, expires_at=timezone.now() + DAY)[1]
    acted = Rpc(server.url, key).use("priority", issue="ACME-1", args="high")
    assert (acted.text, acted.data["run"]) == ("ACME-1 has priority high.", run.pk)
    rpc.use("release_issue", issue="ACME-1")
    assert Rpc(server.url, key).send(LIST).status_code == 401


def test_a_person_acts_with_their_own_rights_and_claims_for_an_agent(
    server: Server, founder: Person, ada: Agent, issue: Issue
) -> None:
    rpc = Rpc(server.url, create_user_key(actor=founder, user=founder.user)[1])
    assert rpc.use("who_am_i").data["me"]["places"][0]["role"] == "owner"
    assert "Name the agent" in rpc.use("claim_issue", issue="ACME-1").text
    assert rpc.use("claim_issue", issue="ACME-1", agent="ada").text.startswith("@ada holds ACME-1")
    assert rpc.use("status", issue="ACME-1", args="done").data["run"] is None


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:8000"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Content-Type": "text/plain"}, 400),
        ({"Accept": "text/html"}, 406),
        ({"MCP-Protocol-Version": "1999-01-01"}, 400),
        ({"MCP-Protocol-Version": CURRENT}, 400),  # whose requests say more than this one
    ],
)
def test_requests_that_are_none_for_here(rpc: Rpc, headers: dict[str, str], status: int) -> None:
    assert rpc.send(LIST, **headers).status_code == status


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_stream_and_no_session(rpc: Rpc, method: str) -> None:
    answer = rpc.send(b"", method=method)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 50_000, b'{"jsonrpc": "2.0", "id": 1}', b"[]", b"\xff"])
def test_what_is_no_request_is_refused(rpc: Rpc, content: bytes) -> None:
    assert rpc.send(content).status_code == 400


def test_a_request_that_is_too_large_is_not_read_to_its_end(server: Server, rpc: Rpc) -> None:
    large = b"x" * (protocol.MOST_BYTES + 1)
    assert rpc.send(large).status_code == 413
    assert Rpc(server.url).send(large).status_code == 401


def test_a_text_that_is_too_large_is_refused_as_by_the_api(rpc: Rpc, issue: Issue) -> None:
    refused = rpc.use("write_comment", issue="ACME-1", body="x" * 70_000)
    assert (refused.is_error, refused.data["status"]) == (True, 413)
    assert not Comment.objects.exists()


def test_a_key_that_calls_too_often_waits(rpc: Rpc, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "rates", Rates(lambda: 0.0))
    settings.API_CALLS_PER_SECOND = 2 / SECONDS_AT_ONCE
    answers = [rpc.send(LIST) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].headers["Retry-After"] == "5"
    assert rpc.send(LIST, Authorization=f"BEARER   {rpc.key}").status_code == 429


def test_a_tool_is_not_refused_halfway_and_each_of_its_calls_counts(
    rpc: Rpc, issue: Issue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "rates", Rates(lambda: 0.0))
    settings.API_CALLS_PER_SECOND = 2 / SECONDS_AT_ONCE
    assert not rpc.use("get_issue", issue="ACME-1").is_error
    assert rpc.send(LIST).status_code == 429


@pytest.mark.parametrize(
    ("answered", "told"),
    [
        ((503, {b"retry-after": b"5", b"content-type": b"application/problem+json"}), (503, b"5")),
        ((301, {b"location": b"https://testserver/api/me"}), (403, None)),
    ],
    ids=["the database is away", "https alone"],
)
def test_what_keeps_the_api_from_answering_is_said_at_the_door(answered: Any, told: tuple[int, bytes | None]) -> None:
    status, headers = answered

    async def pages(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": list(headers.items())})
        await send({"type": "http.response.body", "body": b"{}"})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"method": "POST", "headers": [(b"host", b"testserver"), (b"authorization", b"Bearer x")]}
    asyncio.run(Door(pages)(scope, None, send))  # type: ignore[arg-type]
    assert (sent[0]["status"], dict(sent[0]["headers"]).get(b"retry-after")) == told


def test_a_protocol_that_cannot_be_opened_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_manager: object) -> None:
        raise RuntimeError("it does not open")

    monkeypatch.setattr(protocol.StreamableHTTPSessionManager, "run", fail)
    with pytest.raises(RuntimeError, match="it does not open"):
        asyncio.run(asyncio.wait_for(protocol.open_application(), 30))


def test_a_fault_of_ours_tells_nothing_of_itself(rpc: Rpc, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(protocol, "_use", fail)
    assert rpc.use("my_work") == Result(protocol.FAULT, None, True)
