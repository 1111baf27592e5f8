"""The event stream: who may listen, what is heard, and that nothing is missed."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.test import Client

from issues import events
from issues.models import Activity, Company, Priority
from issues.services.companies import remove_member
from issues.services.issues import set_priority
from tests import build
from tests.servers import wait_until
from tests.streams import Listener, cookie_of, hear, open_stream, own_feed  # noqa: F401  (a fixture)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_feed")]


def listening(
    cookie: str, *, slug: str = "acme", query: str = "", last: str = ""
) -> contextlib.AbstractAsyncContextManager[Listener]:
    return open_stream(events.stream, f"/{slug}/events/", query=query, cookie=cookie, last_event_id=last)


@pytest.fixture
def company() -> Company:
    return build.company_with_founder()[0]


def test_a_member_hears_a_change_as_ids_and_no_text(company: Company) -> None:
    owner = build.owner_of(company)
    issue = build.issue(company, "A secret title")
    cookie, after = cookie_of(owner), Activity.objects.latest("pk").pk

    async def story() -> None:
        async with listening(cookie, query=f"after={after}") as listener:
            assert listener.headers["content-type"] == "text/event-stream"
            await sync_to_async(set_priority)(actor=owner, issue=issue, priority=Priority.HIGH)
            await listener.until(lambda: any(kind["kind"] == "issue.priority" for _, kind in listener.changes()))
            event_id, change = next(pair for pair in listener.changes() if pair[1]["kind"] == "issue.priority")
            assert event_id > after
            assert change == {"kind": "issue.priority", "issue": issue.pk, "run": None}
            assert "secret" not in "".join(listener.received)

    hear(story)


def test_a_stranger_a_removed_member_and_nobody_hear_nothing(company: Company) -> None:
    _, stranger = build.company_with_founder("OTHER")
    former = build.member(company)
    cookies = [cookie_of(stranger), cookie_of(former), "", f"{settings.SESSION_COOKIE_NAME}=nonsense"]
    remove_member(actor=build.owner_of(company), member=build.member_row(former))

    async def story() -> None:
        for cookie in cookies:
            async with listening(cookie) as listener:
                assert listener.status == 404
                assert listener.ended

    hear(story)


def test_another_companys_changes_are_not_heard(company: Company) -> None:
    other, stranger = build.company_with_founder("OTHER")
    cookie, after = cookie_of(build.owner_of(company)), Activity.objects.latest("pk").pk

    async def story() -> None:
        async with listening(cookie, query=f"after={after}") as listener:
            await sync_to_async(build.issue)(other)
            mine = await sync_to_async(build.issue)(company)
            await listener.until(lambda: any(change["issue"] == mine.pk for _, change in listener.changes()))
            mine_only = await sync_to_async(
                lambda: set(Activity.objects.filter(company=company).values_list("pk", flat=True))
            )()
            assert {event_id for event_id, _ in listener.changes()} <= mine_only

    hear(story)


def test_a_page_that_was_away_catches_up_from_what_it_has_seen(company: Company) -> None:
    seen = Activity.objects.latest("pk").pk
    issues = [build.issue(company) for _ in range(3)]
    cookie = cookie_of(build.owner_of(company))

    async def story() -> None:
        async with listening(cookie, query="after=0", last=str(seen)) as listener:
            await listener.until(lambda: len(listener.changes()) >= 3)
            heard = [change["issue"] for event_id, change in listener.changes() if event_id > seen]
            assert heard == [issue.pk for issue in issues]

    hear(story)


def test_a_page_that_missed_very_much_is_told_to_fetch_all_anew(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_AT_ONCE", 5)
    for _ in range(8):
        build.issue(company)
    cookie = cookie_of(build.owner_of(company))

    async def story() -> None:
        async with listening(cookie, query="after=0") as listener:
            await listener.until(lambda: any("event: reset" in event for event in listener.received))
            assert listener.changes() == []

    hear(story)


def test_a_change_that_commits_late_under_a_lower_id_is_heard_once_and_said_to_be_late(company: Company) -> None:
    """On PostgreSQL ids are given before the commit; here the late line is one that the reader had not seen."""
    owner = build.owner_of(company)
    late, early = build.issue(company), build.issue(company)
    lines = {line.issue_id: line for line in Activity.objects.filter(kind="issue.created")}
    feed = events.Feed()
    listener = events._Listener(events.Reader(company.pk, build.member_row(owner).pk))
    feed._listeners.add(listener)
    real = events._read_after

    async def story() -> None:
        hidden = lines[late.pk].pk
        events._read_after = lambda floor: [change for change in real(floor) if change.id != hidden]
        try:
            await feed._tick()
        finally:
            events._read_after = real
        await feed._tick()
        await feed._tick()
        heard = [listener.queue.get_nowait() for _ in range(listener.queue.qsize())]
        found = [(change.issue, change.is_late) for change in heard if change is not None and change.issue is not None]
        assert sorted(found) == sorted([(late.pk, True), (early.pk, False)])

    hear(story)


def test_who_begins_to_listen_while_the_database_is_asked_is_not_sent_away(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [build.member_row(build.member(company)) for _ in range(2)]
    first, second = (events._Listener(events.Reader(company.pk, member.pk)) for member in people)
    feed = events.Feed()
    feed._listeners.add(first)
    real = events._present

    def come_meanwhile(readers: set[events.Reader]) -> set[events.Reader]:
        feed._listeners.add(second)
        return real(readers)

    monkeypatch.setattr(events, "_present", come_meanwhile)

    async def story() -> None:
        await feed._tick()
        assert None not in [second.queue.get_nowait() for _ in range(second.queue.qsize())]

    hear(story)


def test_removing_a_member_ends_the_stream_at_once(company: Company) -> None:
    person = build.member(company)
    cookie, owner = cookie_of(person), build.owner_of(company)

    async def story() -> None:
        async with listening(cookie) as listener:
            await sync_to_async(remove_member)(actor=owner, member=build.member_row(person))
            await listener.until(lambda: listener.ended)
            assert "event: bye" in listener.received[-1]

    hear(story)


def test_a_quiet_stream_pings_and_reads_nothing_when_nobody_listens(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "PING_SECONDS", 0.05)
    cookie = cookie_of(build.owner_of(company))

    async def story() -> None:
        async with listening(cookie, query="after=999999") as listener:
            await listener.until(lambda: any("event: ping" in event for event in listener.received))
        task = events._feed._task
        assert task is not None
        async with asyncio.timeout(5):
            await task  # it ends by itself

    hear(story)


@pytest.mark.parametrize("step", ["_start", "_read_after"])
def test_a_stream_outlives_a_database_that_is_away(
    step: str, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, failures = getattr(events, step), [InterfaceError("closed"), OperationalError("refused")]

    def read(*args: int) -> object:
        if failures:
            raise failures.pop()
        return whole(*args)

    monkeypatch.setattr(events, step, read)
    monkeypatch.setattr(events, "RETRY_SECONDS", 0.01)
    cookie, last = cookie_of(build.owner_of(company)), Activity.objects.latest("pk").pk

    async def story() -> None:
        async with listening(cookie, query=f"after={last}") as listener:
            await asyncio.to_thread(wait_for_failures)
            issue = await sync_to_async(build.issue)(company)
            await listener.until(lambda: issue.pk in [change["issue"] for _, change in listener.changes()])

    def wait_for_failures() -> None:
        wait_until(lambda: not failures, lambda: str(failures))

    hear(story)


def test_a_strange_id_counts_as_none() -> None:
    scope = {"query_string": b"after=1;drop"}
    assert events._after(scope, {}) == 0
    assert events._after({"query_string": b""}, {"last-event-id": "99999999999999999999"}) == 0
    assert events._after({"query_string": b"after=7"}, {}) == 7


def test_a_page_without_a_stream_can_ask(company: Company) -> None:
    owner = build.owner_of(company)
    client = Client()
    client.force_login(owner.user)
    after = Activity.objects.latest("pk").pk
    assert client.get(f"/acme/changes/?after={after}").json() == {"after": after, "reset": False, "changes": []}
    issue = build.issue(company)
    news = client.get(f"/acme/changes/?after={after}").json()
    assert [change["issue"] for change in news["changes"]] == [issue.pk]
    assert news["after"] == news["changes"][-1]["id"]
