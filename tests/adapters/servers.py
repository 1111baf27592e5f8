"""Small servers on loopback, for what a transport in memory cannot show: connections."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.adapters.wire import DONE, block, chunk, counts, started, stopped, words

_HEADERS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


def begun(sdk: str) -> bytes:
    """An answer that has begun and goes no further."""
    body = chunk("Hel") if sdk == "openai" else started() + block() + words("Hel")
    return _HEADERS + _chunked(body)


def whole(sdk: str) -> bytes:
    """An answer from beginning to end."""
    if sdk == "openai":
        body = chunk("Hello.", "stop") + counts() + DONE
    else:
        body = started() + block() + words("Hello.") + stopped()
    return _HEADERS + _chunked(body) + _chunked(b"")


def redirect(url: str) -> bytes:
    return f"HTTP/1.1 307 Temporary Redirect\r\nlocation: {url}\r\ncontent-length: 0\r\n\r\n".encode()


@dataclass
class Server:
    """What a server saw: connections taken, requests read on them, connections that the other side closed."""

    url: str
    connections: int = 0
    asked: queue.Queue[None] = field(default_factory=queue.Queue)
    closed: queue.Queue[None] = field(default_factory=queue.Queue)


@contextlib.contextmanager
def serving(answer: bytes) -> Iterator[Server]:
    """A server that sends the same bytes to every request and then waits, without ever closing a connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
        threading.Thread(target=_accept, args=(listener, server, answer), daemon=True).start()
        yield server


@contextlib.contextmanager
def dying(answer: bytes) -> Iterator[Server]:
    """A server that sends these bytes to every request and is gone in the middle of them: it closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
        threading.Thread(target=_accept, args=(listener, server, answer, True), daemon=True).start()
        yield server


def _accept(listener: socket.socket, server: Server, answer: bytes, dies: bool = False) -> None:
    with contextlib.suppress(OSError):  # the listener is closed when the test is over
        while True:
            connection, _ = listener.accept()
            server.connections += 1
            threading.Thread(target=_talk, args=(connection, server, answer, dies), daemon=True).start()


def _talk(connection: socket.socket, server: Server, answer: bytes, dies: bool) -> None:
    with connection, contextlib.suppress(OSError):
        waiting = b""
        while received := connection.recv(65_536):
            waiting += received
            if _whole_request(waiting):
                waiting = b""
                server.asked.put(None)
                connection.sendall(answer)
                if dies:
                    break
    server.closed.put(None)


def _whole_request(received: bytes) -> bool:
    head, separator, body = received.partition(b"\r\n\r\n")
    if not separator:
        return False
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return len(body) >= int(lengths[0])
