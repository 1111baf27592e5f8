"""Keeps slow and vanished clients away from the few threads that answer requests.

A thread starts on a request once all of it is here, and its answer waits a bounded time for a client that
does not read. So a slow line costs memory or disk, never one of the threads.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, MutableMapping
from typing import IO, Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Up to here a body stays in memory.
MEMORY_BYTES = 1024 * 1024
CHUNK_BYTES = 256 * 1024
# Seconds for which a client may take nothing of an answer before it counts as gone.
SEND_TIMEOUT_SECONDS = 30.0

TOO_LARGE = b"The request is too large.\n"


class Buffering:
    """Wraps an ASGI application: whole requests in, patient but bounded answers out.

    A body over `limit_bytes` is answered with 413, without being read to its end.
    """

    def __init__(self, app: Application, *, limit_bytes: int) -> None:
        self.app = app
        self.limit_bytes = limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with tempfile.SpooledTemporaryFile(MEMORY_BYTES) as body:
            size = await self._read(receive, body)
            if size is None:
                return
            if size > self.limit_bytes:
                await _refuse(send)
                return
            body.seek(0)
            await self.app(_sized(scope, size), _replay(body, size, receive), _bounded(send))

    async def _read(self, receive: Receive, body: IO[bytes]) -> int | None:
        """Write the request to `body`; its size, or None when the client went away before its end."""
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self.limit_bytes:
                return size
            body.write(chunk)
            if not message.get("more_body", False):
                return size


def _sized(scope: Scope, size: int) -> Scope:
    """The request as one of a known size: what came in chunks is whole now, and its readers go by its length."""
    framing = (b"content-length", b"transfer-encoding")
    headers = [(name, value) for name, value in scope["headers"] if name.lower() not in framing]
    return {**scope, "headers": [*headers, (b"content-length", str(size).encode())]}


def _replay(body: IO[bytes], size: int, receive: Receive) -> Receive:
    """Hand out the kept body, then what the client says next (that it went away)."""
    ended = False

    async def next_message() -> Message:
        nonlocal ended
        if ended:
            return await receive()
        chunk = body.read(CHUNK_BYTES)
        ended = body.tell() >= size
        return {"type": "http.request", "body": chunk, "more_body": not ended}

    return next_message


def _bounded(send: Send) -> Send:
    """Send, and drop what follows once the client has stopped reading.

    Nothing is raised: the thread that writes the answer would wait for ever on a sender that died.
    """
    gone = False

    async def send_or_drop(message: Message) -> None:
        nonlocal gone
        if gone:
            return
        try:
            async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                await send(message)
        except (TimeoutError, OSError):
            gone = True

    return send_or_drop


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(TOO_LARGE)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": TOO_LARGE})
