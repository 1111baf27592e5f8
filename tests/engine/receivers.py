"""A server that webhooks are sent to: it keeps what it gets, and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.utils import timezone

from engine.webhooks import COURIERS, Couriers
from issues.models import Delivery, DeliveryState, Webhook, WebhookKind

ALL = [str(kind) for kind in WebhookKind]
"""All that a webhook can be told."""


@dataclass(frozen=True)
class Got:
    """One message as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def uid(self) -> str:
        return self.headers["webhook-id"]

    @property
    def told(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """`answers` are its statuses in turn, with headers; the last one stands for all that follow. `meanwhile` is called
    before it answers."""

    url: str = ""
    got: list[Got] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=lambda: [(204, {})])
    meanwhile: Callable[[], object] = lambda: None

    def answer(self, status: int, **headers: str) -> None:
        """How it answers from now on."""
        self.answers = [(status, {name.replace("_", "-"): value for name, value in headers.items()})]

    @property
    def kinds(self) -> list[str]:
        """Of what came, by name: what is under way at the same time comes in any order."""
        return sorted(got.told["type"] for got in self.got)

    def told(self, kind: str) -> Any:
        """The one message of that kind."""
        [told] = [got.told for got in self.got if got.told["type"] == kind]
        return told


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on loopback."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(Got(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            receiver.meanwhile()
            status, headers = receiver.answers.pop(0) if len(receiver.answers) > 1 else receiver.answers[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Tests look at what was got."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/in"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class AtOnce(Executor):
    """Does what it is given in the thread that gives it."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def send(*, is_ending: bool = False) -> None:
    """What a tick does, without threads."""
    Couriers(COURIERS, AtOnce(), lambda: is_ending).send_due()


def make_due() -> None:
    """Let all waits be over."""
    now = timezone.now()
    Webhook.objects.update(held_until=None)
    Delivery.objects.filter(state=DeliveryState.PENDING).update(due_at=now)
