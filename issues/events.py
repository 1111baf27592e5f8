"""What changes, as it changes: one stream of server-sent events per open page, and for programs one at `/api/events`.

A stream carries ids only. What a page shows of a change it fetches through an ordinary view, which checks permission;
so the stream needs to know no more than whether the reader is a member. Each web process has one reader of the audit
for all of its streams, and none while nobody listens; an idle stream holds no database connection and no thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import logging
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import parse_qs

from django.conf import settings
from django.contrib.auth import get_user
from django.db import Error, close_old_connections
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.http.cookie import parse_cookie
from django.utils import timezone

from issues.models import Activity, Member
from issues.numbers import as_number
from issues.rest.problems import MEDIA_TYPE, problem
from issues.services.keys import working_keys
from trimus.buffering import Application, Receive, Scope, Send
from trimus.exchange import Exchange

T = TypeVar("T")

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.4
"""A page shows another's change within 2 s; this, the debounce of the page and its fetch stay well below."""

WINDOW = datetime.timedelta(seconds=10)
"""Lines are read again for this long: on PostgreSQL a transaction that began earlier may commit later."""

OVERLAP = 200
"""Ids by which a catch-up looks back, for the same reason."""

RETRY_SECONDS = 2.0
PING_SECONDS = 15.0
MOST_OPEN = 20
"""Streams of one key, or of one person's sessions, at `/api/events` of one process: a program needs one."""

TOO_MANY_OPEN = "This key or session has too many streams open. Close one first."
RETRY = b"retry: 2000\n\n"
READER = "Trimus-Reader"
"""Names the header in which the API's view says who may read, to `stream_to_program` alone."""
MOST_AT_ONCE = 500
"""Over this many missed changes a page is told to fetch all anew instead."""


@dataclass(frozen=True, slots=True)
class Change:
    """A line of activity, as ids. One that `is_late` came after some with a higher id: a page that was fetched in
    between shows those and not this one."""

    id: int
    company: int
    issue: int | None
    number: int | None
    run: int | None
    kind: str
    at: datetime.datetime
    is_late: bool = False

    def as_event(self, prefix: str = "") -> bytes:
        """For a page, which knows issues by their ids; with the company's key for `prefix`, by identifiers."""
        issue = self.issue if not prefix else f"{prefix}-{self.number}" if self.number is not None else None
        data = {"kind": self.kind, "issue": issue, "run": self.run} | ({"late": True} if self.is_late else {})
        return f"id: {self.id}\nevent: change\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a company's stream, by ids: a member or an agent, and the key that it came with, if with one. `prefix`
    is the company's key for who is told identifiers."""

    company: int
    member: int | None = None
    agent: int | None = None
    key: int | None = None
    prefix: str = ""


@dataclass(eq=False, slots=True)
class _Listener:
    """One open stream."""

    reader: Reader
    queue: asyncio.Queue[Change | None] = field(default_factory=lambda: asyncio.Queue(MOST_AT_ONCE))

    def put(self, change: Change | None) -> None:
        """Hand over a change, or None for the end; what does not fit is made up for by a reset."""
        with contextlib.suppress(asyncio.QueueFull):
            self.queue.put_nowait(change)


def changes_since(company: int, after: int) -> list[Change]:
    """The company's changes after that id, oldest first, and those of the last seconds once more."""
    recent = Q(pk__gt=after) | Q(created_at__gt=timezone.now() - WINDOW)
    lines = Activity.objects.filter(recent, company=company, pk__gt=after - OVERLAP).order_by("pk")
    return _changes(lines[: MOST_AT_ONCE + 1])


class Feed:
    """The one reader of a process: hands each new line to the streams of its company, once."""

    def __init__(self) -> None:
        self._listeners: set[_Listener] = set()
        self._task: asyncio.Task[None] | None = None
        self._floor = 0
        self._newest = 0
        self._seen: set[int] = set()

    def count(self, reader: Reader) -> int:
        """How many streams this very reader has open."""
        return sum(listener.reader == reader for listener in self._listeners)

    @contextlib.contextmanager
    def listen(self, listener: _Listener) -> Any:
        self._listeners.add(listener)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self._listeners.discard(listener)

    async def _run(self) -> None:
        has_begun = False
        while self._listeners:
            try:
                if not has_begun:
                    self._floor, self._newest, self._seen = await _in_thread(_start), 0, set()
                    has_begun = True
                await self._tick()
            except Error as error:  # away for a moment: streams stay open, and catch up when it is back
                logger.warning("the event stream cannot read: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
            await asyncio.sleep(POLL_SECONDS)

    async def _tick(self) -> None:
        readers = {listener.reader for listener in self._listeners}
        changes, present = await _in_thread(lambda: (_read_after(self._floor), _present(readers)))
        fresh = [replace(change, is_late=change.id < self._newest) for change in changes if change.id not in self._seen]
        self._newest = max([self._newest, *(change.id for change in fresh)])
        for listener in list(self._listeners):
            for change in fresh:
                if change.company == listener.reader.company:
                    listener.put(change)
            if listener.reader in readers - present:  # who came while the database was asked, it was not asked about
                listener.put(None)
        self._settle(changes)

    def _settle(self, changes: list[Change]) -> None:
        """Forget lines so old that none with a lower id can still appear."""
        old = timezone.now() - WINDOW
        settled = [change.id for change in changes if change.at < old]
        self._floor = max([self._floor, *settled])
        self._seen = {change.id for change in changes if change.id > self._floor}


_feed = Feed()
_database = ThreadPoolExecutor(max_workers=1, thread_name_prefix="events")


async def stream(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI application for `/<company>/events/`: 404 unless the session's user is a member, else the stream.

    `?after=ID`, or the header Last-Event-ID of a browser that connects again, says what the page has seen.
    """
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    slug = scope["path"].strip("/").split("/")[0]
    reader = await _in_thread(lambda: _member_of(headers, slug)) if scope["method"] == "GET" else None
    if reader is None:
        await _answer(send, 404, {"content-type": "text/plain"}, b"Not found", more=False)
        return
    await _stream(reader, _after(scope, headers), receive, send)


async def stream_to_program(scope: Scope, receive: Receive, send: Send, *, api: Application) -> None:
    """ASGI application for `/api/events`. Whether the caller may read, and what it is told if not, the API's own view
    says; the thread that answers it is free again before the stream begins."""
    asked = Exchange()
    await api(scope, asked.receive, asked.send)
    who = asked.headers.pop(READER.lower(), None)
    if who is None:
        await _answer(send, asked.status, asked.headers, asked.body, more=False)
        return
    going_on = json.loads(who)
    reader = Reader(**going_on["reader"])
    if _feed.count(reader) >= MOST_OPEN:
        refused = problem(HTTPStatus.TOO_MANY_REQUESTS, "too-many-requests", TOO_MANY_OPEN)
        headers = {"content-type": MEDIA_TYPE, "retry-after": f"{PING_SECONDS:.0f}"}
        await _answer(send, refused.status_code, headers, json.dumps(refused.data).encode(), more=False)
        return
    await _stream(reader, going_on["after"], receive, send)


async def _stream(reader: Reader, after: int, receive: Receive, send: Send) -> None:
    await _answer(
        send, 200, {"content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"}
    )  # fmt: skip
    tasks = [
        asyncio.create_task(_write(reader, after, send)),
        asyncio.create_task(_wait_for_end(receive)),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        with contextlib.suppress(OSError):  # the reader left while something was being sent
            task.result()


async def _write(reader: Reader, after: int, send: Send) -> None:
    listener = _Listener(reader)
    with _feed.listen(listener):
        missed = await _in_thread(lambda: changes_since(reader.company, after))
        await _body(send, RETRY + _events(missed, reader.prefix))
        while True:
            batch = await _next_batch(listener)
            if None in batch:
                await _body(send, b"event: bye\ndata:\n\n", more=False)
                return
            heard = _events([change for change in batch if change is not None], reader.prefix)
            await _body(send, heard or b"event: ping\ndata:\n\n")


async def _next_batch(listener: _Listener) -> list[Change | None]:
    """What has come, or nothing after a while."""
    try:
        batch = [await asyncio.wait_for(listener.queue.get(), PING_SECONDS)]
    except TimeoutError:
        return []
    while not listener.queue.empty():
        batch.append(listener.queue.get_nowait())
    return batch


def _events(changes: list[Change], prefix: str) -> bytes:
    if len(changes) >= MOST_AT_ONCE:
        return f"id: {changes[-1].id}\nevent: reset\ndata:\n\n".encode()
    return b"".join(change.as_event(prefix) for change in changes)


async def _wait_for_end(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _answer(send: Send, status: int, headers: Mapping[str, str], body: bytes = b"", *, more: bool = True) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await _body(send, body, more=more)


async def _body(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


def _after(scope: Scope, headers: Mapping[str, str]) -> int:
    asked = headers.get("last-event-id") or parse_qs(scope["query_string"].decode("latin-1")).get("after", ["0"])[0]
    return as_number(asked) or 0


# --- The database, in the one thread of this module


async def _in_thread(work: Callable[[], T]) -> T:
    def call() -> T:
        try:
            return work()
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_database, call)


def _member_of(headers: Mapping[str, str], slug: str) -> Reader | None:
    """The session's user as a reader of the company of that slug."""
    request = HttpRequest()
    key = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    if not user.is_authenticated or not user.is_active:
        return None
    members = Member.objects.present().filter(user=user.pk, company__key=slug.upper())
    found = members.values_list("company_id", "pk").first()
    return Reader(*found) if found is not None else None


def _start() -> int:
    """The newest line that is so old that none before it can still appear. What is newer, and was told to who has just
    begun to listen, is told once more."""
    old = Activity.objects.filter(created_at__lt=timezone.now() - WINDOW)
    return old.order_by("-pk").values_list("pk", flat=True).first() or 0


def _read_after(floor: int) -> list[Change]:
    return _changes(Activity.objects.filter(pk__gt=floor).order_by("pk"))


def _present(readers: Collection[Reader]) -> set[Reader]:
    """Those that may still read: their membership stands and their key works. An agent's works while it does."""
    members = {reader.member for reader in readers if reader.member is not None}
    keys = {reader.key for reader in readers if reader.key is not None}
    there = Member.objects.present().filter(pk__in=members, user__is_active=True).values_list("pk", flat=True)
    present, working = {None, *there}, {None, *(working_keys(keys) if keys else ())}
    return {reader for reader in readers if reader.member in present and reader.key in working}


def _changes(lines: QuerySet[Activity]) -> list[Change]:
    rows = lines.values_list("pk", "company_id", "issue_id", "issue__number", "run_id", "data", "kind", "created_at")
    return [
        Change(pk, company, issue, number, run or data.get("run"), kind, at)
        for pk, company, issue, number, run, data, kind, at in rows
    ]  # fmt: skip
