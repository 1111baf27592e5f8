"""The embedded broker: a folder of doorbells, so that one machine needs no broker server.

It is a kombu transport, as Redis and RabbitMQ are, and `CELERY_BROKER_URL` puts either in its place. A
queue is a folder and a message a file in it. Two system calls carry the whole protocol:

- `rename` publishes: a message is written aside and renamed, so nobody ever reads half of one.
- `unlink` takes: of all that read a message, the one whose `unlink` succeeds has it.

kombu's own file-system transport writes in place, where a worker that reads too early ends on the torn
file, keeps its exchanges in files torn in the same way, and lists every queue for each message. This one
carries direct and topic exchanges only; the workers run without remote control and need no fan-out.

A message says "look" and no more, so losing one costs the seconds until the next sweep. That is why none
is synced to disk, and why one that cannot be read is dropped.
"""

from __future__ import annotations

import logging
import os
import re
import time
import uuid
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, virtual
from kombu.utils.json import dumps, loads

SCHEME = "embedded"

# Seconds between looks into an idle queue. A listing of an empty folder takes some 10 microseconds, and
# half an interval, the mean wait, is small beside the 150 ms from wakeup to run start that are aimed at.
POLLING_INTERVAL = 0.02

SUFFIX = ".msg"
QUEUE_NAME = re.compile(r"\A[A-Za-z0-9_-][A-Za-z0-9._-]*\Z")

# A doorbell is below 1 kB. What is larger was put there by something else.
MESSAGE_LIMIT_BYTES = 256 * 1024

# A file still aside after this long belongs to a producer that was killed while it wrote.
ASIDE_LIFE_SECONDS = 3600

logger = logging.getLogger(__name__)


class UnreadableMessageError(Exception):
    """The file is no message, or not a whole one."""


class Channel(virtual.Channel):
    """A view of the queue folders below the transport option `folder`."""

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        # Names listed and not tried yet, by queue: a backlog of n messages is listed once, not n times.
        self._listed: dict[str, deque[str]] = {}

    def _queue_folder(self, queue: str) -> Path:
        if not QUEUE_NAME.match(queue):
            raise ChannelError(f"{queue!r} cannot name a queue: it must be a plain file name")
        return Path(self.connection.client.transport_options["folder"]) / queue

    def _new_queue(self, queue: str, **_options: Any) -> None:
        folder = self._queue_folder(queue)
        folder.mkdir(parents=True, exist_ok=True)
        _clear_asides(folder)

    def _put(self, queue: str, message: dict[str, Any], **_options: Any) -> None:
        folder = self._queue_folder(queue)
        # The time makes file names sort in the order of publishing; the rest keeps them apart.
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex}{SUFFIX}"
        content = dumps(message).encode()
        try:
            try:
                _publish(folder, name, content)
            except FileNotFoundError:
                folder.mkdir(parents=True, exist_ok=True)
                _publish(folder, name, content)
        except OSError as error:
            raise ChannelError(f"cannot publish to queue {queue!r}: {error}") from error

    def _get(self, queue: str, **_options: Any) -> dict[str, Any]:
        """The oldest message, which from now on no other consumer gets; raises `Empty` without one."""
        folder = self._queue_folder(queue)
        names = self._listed.setdefault(queue, deque())
        if not names:
            names.extend(sorted(_message_names(folder)))
        while names:
            path = folder / names.popleft()
            content = _take(path)
            if content is None:
                continue
            try:
                return self._read(content)
            except UnreadableMessageError as error:
                logger.warning("dropped %s from the broker folder: %s", path.name, error)
        raise Empty

    def _read(self, content: bytes) -> dict[str, Any]:
        if len(content) > MESSAGE_LIMIT_BYTES:
            raise UnreadableMessageError(f"larger than {MESSAGE_LIMIT_BYTES} bytes")
        try:
            payload: dict[str, Any] = loads(content)
            # Kombu builds this object from the payload and lets what it raises end the worker.
            message = self.Message(payload, channel=self)
        except Exception as error:
            raise UnreadableMessageError(f"{type(error).__name__}: {error}") from error
        if not isinstance(message.delivery_tag, str):
            raise UnreadableMessageError("it has no delivery tag")
        return payload

    def _get_and_deliver(self, queue: str, callback: Callable[[dict[str, Any], str], None]) -> None:
        message = self._get(queue)
        try:
            callback(message, queue)
        except Exception:
            # A message in the right form that is no task: what reads it raises, and nothing above would
            # catch that. It counts as done, or it would come back at the next start.
            logger.exception("dropped a message that could not be delivered")
            self.qos.ack(message["properties"]["delivery_tag"])

    def _size(self, queue: str) -> int:
        return len(_message_names(self._queue_folder(queue)))

    def _purge(self, queue: str) -> int:
        folder = self._queue_folder(queue)
        return sum(_take(folder / name) is not None for name in _message_names(folder))


def _publish(folder: Path, name: str, content: bytes) -> None:
    aside = folder / f".{name}"
    try:
        aside.write_bytes(content)
        aside.rename(folder / name)
    except OSError:
        # A full disk leaves half of the file.
        aside.unlink(missing_ok=True)
        raise


def _message_names(folder: Path) -> list[str]:
    try:
        # Plain names: this runs at every look, and path objects would cost more than the listing.
        names = os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        return []
    return [name for name in names if name.endswith(SUFFIX) and not name.startswith(".")]


def _take(path: Path) -> bytes | None:
    """The content of the file, which is gone afterwards; None if another took it or it cannot be read.

    A reader killed between the two calls leaves the message for the next one.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MESSAGE_LIMIT_BYTES + 1)
        path.unlink()
    except OSError:
        return None
    return content


def _clear_asides(folder: Path) -> None:
    oldest = time.time() - ASIDE_LIFE_SECONDS
    for path in folder.glob(f".*{SUFFIX}"):
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except FileNotFoundError:
            continue


class Transport(virtual.Transport):
    """`embedded://` with the transport option `folder`, the directory that holds the queues."""

    Channel = Channel
    polling_interval = POLLING_INTERVAL
    default_port = 0
    driver_type = "embedded"
    driver_name = "embedded"
    implements = virtual.Transport.implements.extend(asynchronous=False, exchange_type=frozenset(["direct", "topic"]))

    # Bindings are the same for all connections of a process: each declares what it uses.
    bindings = virtual.BrokerState()

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.state = self.bindings

    def driver_version(self) -> str:
        return "1"


def register() -> None:
    """Make `embedded://` known to kombu."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
