"""Slow and vanished clients never hold a thread: here there is only one to hold."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from a2wsgi import WSGIMiddleware

from trimus import buffering

LIMIT_BYTES = 4 * 1024 * 1024
HUGE_ANSWER = [b"x" * 65_536] * 512


class Page:
    """A WSGI application that tells the size of what it was sent, or answers hugely, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.framing: list[tuple[str | None, str | None]] = []

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        self.calls += 1
        self.framing.append((environ.get("CONTENT_LENGTH"), environ.get("HTTP_TRANSFER_ENCODING")))
        if environ["PATH_INFO"] == "/huge":
            start_response("200 OK", [("Content-Type", "text/plain")])
            return HUGE_ANSWER
        size = str(len(environ["wsgi.input"].read())).encode()
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(size)))])
        return [size]


class Server:
    def __init__(self, page: Page) -> None:
        app = buffering.Buffering(WSGIMiddleware(page, workers=1), limit_bytes=LIMIT_BYTES)
        config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        self.page = page
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        deadline = time.monotonic() + 10
        while not self.server.started:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def ask(self, body: Any = None, **options: Any) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("POST" if body is not None else "GET", "/", body=body, **options)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def say(self, head: str) -> socket.socket:
        """A raw connection on which `head` was sent."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        client.sendall(head.replace("\n", "\r\n").encode())
        return client


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(Page())
    yield server
    server.server.should_exit = True
    server.thread.join(10)


def test_small_and_large_requests_arrive_whole(server: Server) -> None:
    assert server.ask() == (200, b"0")
    assert server.ask(b"x" * 10) == (200, b"10")
    large = 3 * 1024 * 1024 + 7
    assert server.ask(b"x" * large) == (200, str(large).encode())
    assert server.ask((b"x" * 1000 for _ in range(100)), encode_chunked=True) == (200, b"100000")


def test_what_came_in_chunks_has_a_length(server: Server) -> None:
    """Who reads a request goes by its length, and would take one without for empty."""
    server.ask((b"x" * 1000 for _ in range(3)), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    server.ask(b"x" * 7)
    assert server.page.framing == [("3000", None), ("7", None)]


def test_a_request_over_the_limit_is_refused_without_a_thread(server: Server) -> None:
    client = server.say(f"POST / HTTP/1.1\nHost: x\nContent-Length: {LIMIT_BYTES * 100}\n\n")
    with client:
        sent = 0
        while sent <= LIMIT_BYTES:
            sent += client.send(b"x" * 65_536)
        assert client.recv(100).startswith(b"HTTP/1.1 413")
    assert server.page.calls == 0


def test_a_slow_upload_leaves_the_thread_to_others(server: Server) -> None:
    with server.say("POST / HTTP/1.1\nHost: x\nContent-Length: 10\n\nhalf"):
        time.sleep(0.1)
        assert server.ask() == (200, b"0")


def test_an_upload_that_breaks_off_reaches_nobody(server: Server) -> None:
    server.say("POST / HTTP/1.1\nHost: x\nContent-Length: 10\n\nhalf").close()
    time.sleep(0.2)
    assert server.page.calls == 0
    assert server.ask() == (200, b"0")


def test_a_client_that_stops_reading_gives_the_thread_back(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffering, "SEND_TIMEOUT_SECONDS", 0.3)
    with server.say("GET /huge HTTP/1.1\nHost: x\n\n") as client:
        client.recv(100)
        assert server.ask() == (200, b"0")


def test_a_client_that_leaves_during_the_answer_gives_the_thread_back(server: Server) -> None:
    with server.say("GET /huge HTTP/1.1\nHost: x\n\n") as client:
        client.recv(100)
    assert server.ask() == (200, b"0")
