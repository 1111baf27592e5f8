"""The event stream for programs: who may listen, what is told, and when it ends."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import time_machine
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from agents.services.agents import terminate_agent
from issues import events
from issues.actors import Person
from issues.models import Activity, ApiKey, Company, Priority, Role
from issues.services.companies import remove_member
from issues.services.issues import set_priority
from issues.services.keys import create_agent_key, create_user_key, revoke_key
from tests import build
from tests.streams import Listener, cookie_of, hear, open_stream, own_feed  # noqa: F401  (a fixture)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_feed")]


PRIORITY = {"kind": "issue.priority", "issue": "ACME-1", "run": None}


async def api(scope: Any, _receive: Any, send: Any) -> None:
    """The API, as the threads of a server would answer it."""
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    query = scope["query_string"].decode()
    answer = await sync_to_async(Client().get)(scope["path"], QUERY_STRING=query, headers=headers)
    named = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": named})
    await send({"type": "http.response.body", "body": answer.content})


async def application(scope: Any, receive: Any, send: Any) -> None:
    await events.stream_to_program(scope, receive, send, api=api)


def listening(query: str = "", **headers: str) -> AbstractAsyncContextManager[Listener]:
    return open_stream(application, "/api/events", query=query, **headers)


def lines_of(company: Company) -> list[int]:
    return list(Activity.objects.filter(company=company).values_list("pk", flat=True))


def bearer(key: str) -> str:
    return f"Bearer {key}"


def test_a_key_hears_what_changes_by_identifiers_and_no_text(company: Company, founder: Person, ada: Agent) -> None:
    """A person's and an agent's, also one that only reads."""
    issue = build.issue(company, "A secret title")
    keys = [
        create_user_key(actor=founder, user=founder.user)[1],
        create_agent_key(actor=founder, agent=ada)[1],
    ]

    async def story() -> None:
        for key, priority in zip(keys, (Priority.HIGH, Priority.LOW), strict=True):
            async with listening(authorization=bearer(key)) as listener:
                assert (listener.status, listener.headers["content-type"]) == (200, "text/event-stream")
                assert not [name for name in listener.headers if "reader" in name.lower()]
                await sync_to_async(set_priority)(actor=founder, issue=issue, priority=priority)
                await listener.until(lambda: PRIORITY in [change for _, change in listener.changes()])
                assert "secret" not in "".join(listener.received)

    hear(story)


def test_any_address_answers_whatever_a_client_says_it_accepts(founder: Person) -> None:
    key = create_user_key(actor=founder, user=founder.user)[1]
    for path in ("/api/me", "/api/events"):
        answer = Client().get(path, headers={"Authorization": bearer(key), "Accept": "image/png"})
        assert answer.status_code == 200, path


def test_it_goes_on_after_what_was_seen(company: Company, founder: Person) -> None:
    key = create_user_key(actor=founder, user=founder.user)[1]
    issue = build.issue(company)
    seen = Activity.objects.latest("pk").pk
    set_priority(actor=founder, issue=issue, priority=Priority.HIGH)

    async def story() -> None:
        async with listening(authorization=bearer(key), last_event_id=f"{seen}") as listener:
            await listener.until(lambda: any(number > seen for number, _ in listener.changes()))

    hear(story)


def test_who_comes_back_goes_on_after_what_it_saw_last(company: Company, founder: Person) -> None:
    """A client asks at the address that it began with again, which says `after`; its header is the newer one."""
    key = create_user_key(actor=founder, user=founder.user)[1]
    build.issue(company)
    first, last = min(lines_of(company)), max(lines_of(company))

    def begins_at(query: dict[str, int], **headers: str) -> int:
        answer = Client().get("/api/events", query, headers={"Authorization": bearer(key), **headers})
        place: int = json.loads(answer.headers[events.READER])["after"]
        return place

    assert begins_at({"after": 0}, **{"Last-Event-ID": f"{first}"}) == first
    assert begins_at({"after": 0}, **{"Last-Event-ID": "nonsense"}) == 0
    assert begins_at({"after": 0}) == 0
    assert begins_at({}) == last


def test_it_begins_now_unless_told_where(company: Company, founder: Person) -> None:
    key = create_user_key(actor=founder, user=founder.user)[1]
    issue = build.issue(company)

    async def story() -> None:
        async with listening(authorization=bearer(key)) as listener:
            await listener.until(lambda: listener.received)
            await sync_to_async(set_priority)(actor=founder, issue=issue, priority=Priority.HIGH)
            await listener.until(lambda: listener.changes())
            assert [change for _, change in listener.changes()] == [PRIORITY]

    with time_machine.travel(timezone.now() + datetime.timedelta(minutes=1)):
        hear(story)


def test_a_session_is_told_the_same(company: Company, founder: Person) -> None:
    build.issue(company)
    cookie = cookie_of(founder)

    async def story() -> None:
        async with listening(cookie=cookie) as listener:
            await listener.until(lambda: listener.changes())
            assert "ACME-1" in [change["issue"] for _, change in listener.changes()]

    hear(story)


def test_who_may_not_listen_is_told_why(company: Company, founder: Person) -> None:
    build.company_with_founder("THEM")
    key = create_user_key(actor=founder, user=founder.user)[1]

    async def story() -> None:
        for query, headers, status in (
            ("", {}, 401),
            ("", {"authorization": "Bearer trm_0"}, 401),
            ("company=THEM", {"authorization": bearer(key)}, 404),
            ("after=x", {"authorization": bearer(key)}, 422),
            ("", {"authorization": bearer(key), "accept": "text/event-stream"}, 200),
        ):
            async with listening(query, **headers) as listener:
                await listener.until(lambda: listener.received)
                assert listener.status == status, query
                if status != 200:
                    assert listener.ended
                    assert json.loads(listener.received[0])["status"] == status

    hear(story)


def test_a_key_has_only_so_many_open(company: Company, founder: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_OPEN", 1)
    keys = [create_user_key(actor=founder, user=founder.user)[1] for _ in range(2)]

    async def story() -> None:
        async with listening(authorization=bearer(keys[0])) as first:
            await first.until(lambda: first.received)
            async with listening(authorization=bearer(keys[0])) as second:
                await second.until(lambda: second.ended)
                assert (second.status, second.headers["retry-after"]) == (429, "15")
                assert json.loads(second.received[0])["type"] == "urn:trimus:problem:too-many-requests"
            async with listening(authorization=bearer(keys[1])) as other:
                assert other.status == 200
        async with listening(authorization=bearer(keys[0])) as again:
            assert again.status == 200

    hear(story)


def member_removed(_key: ApiKey, person: Person, owner: Person, _agent: Agent) -> None:
    remove_member(actor=owner, member=build.member_row(person))


def key_revoked(key: ApiKey, _person: Person, owner: Person, _agent: Agent) -> None:
    revoke_key(actor=owner if key.agent_id else Person(key.user), key=key)  # type: ignore[arg-type]


def agent_terminated(_key: ApiKey, _person: Person, owner: Person, agent: Agent) -> None:
    terminate_agent(actor=owner, agent=agent)


@pytest.mark.parametrize(
    ("whose", "ended"),
    [("person", member_removed), ("person", key_revoked), ("agent", key_revoked), ("agent", agent_terminated)],
)
def test_it_ends_with_the_membership_the_key_and_the_agent(
    company: Company, founder: Person, ada: Agent, whose: str, ended: Callable[..., None]
) -> None:
    person = build.member(company, role=Role.VIEWER)
    if whose == "agent":
        key, text = create_agent_key(actor=founder, agent=ada)
    else:
        key, text = create_user_key(actor=person, user=person.user)

    async def story() -> None:
        async with listening(authorization=bearer(text)) as listener:
            await listener.until(lambda: listener.received)
            await sync_to_async(ended)(key, person, founder, ada)
            await listener.until(lambda: listener.ended)
            assert listener.received[-1].startswith("event: bye")

    hear(story)


def test_another_companys_changes_are_not_heard(company: Company, founder: Person) -> None:
    other, owner = build.company_with_founder("THEM")
    key = create_user_key(actor=founder, user=founder.user)[1]
    after = Activity.objects.latest("pk").pk

    async def story() -> None:
        async with listening(f"after={after}", authorization=bearer(key)) as listener:
            await sync_to_async(build.issue)(other, actor=owner)
            await sync_to_async(build.issue)(company)
            await listener.until(lambda: "ACME-1" in [change["issue"] for _, change in listener.changes()])
            assert "THEM" not in "".join(listener.received)
            heard = {number for number, _ in listener.changes()}
            assert not heard & set(await sync_to_async(lines_of)(other))

    hear(story)
