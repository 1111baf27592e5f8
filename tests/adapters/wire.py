"""What providers send, and transports that send it: the SDKs are real, only the network is not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import httpx2

from agents.adapters.anthropic import AnthropicProvider
from agents.adapters.base import Endpoint, Message, ModelRequest, Provider, Role
from agents.adapters.openai import OpenAIProvider

KEY = "sk-test-0123456789abcdef"
SDKS = ("openai", "anthropic")

Handler = Callable[[httpx2.Request], httpx2.Response | Awaitable[httpx2.Response]]


def ask(text: str = "What next?", **changes: Any) -> ModelRequest:
    """A request with what a test does not care about filled in."""
    fields: dict[str, Any] = {
        "system": "You are Ada.",
        "messages": (Message(Role.USER, text),),
        "model": "some-model",
        "max_output_tokens": 100,
        "deadline_seconds": 5.0,
    }
    return ModelRequest(**fields | changes)


def endpoint(sdk: str, **changes: Any) -> Endpoint:
    return Endpoint(**{"provider": sdk, "base_url": "http://models.test/v1", "api_key": KEY} | changes)


def provider(sdk: str, handler: Handler, **changes: Any) -> Provider:
    """The real provider over a transport that answers from a function."""
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(handler))
    make = OpenAIProvider if sdk == "openai" else AnthropicProvider
    return make(endpoint(sdk, **changes), transport=client)


class Pieces(httpx2.AsyncByteStream):
    """A body that comes piece by piece and may end in an exception."""

    def __init__(self, pieces: Sequence[bytes], then: Exception | None = None) -> None:
        self._pieces, self._then = pieces, then

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        if self._then:
            raise self._then


def stream(*pieces: bytes, then: Exception | None = None, **headers: str) -> httpx2.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(200, headers={"content-type": "text/event-stream", **names}, stream=Pieces(pieces, then))


def event(data: object, name: str = "") -> bytes:
    said = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {said}\n\n".encode()


def chunk(content: str | None = None, finish: str | None = None, **delta: Any) -> bytes:
    """One piece of a Chat Completions answer."""
    choice = {"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}
    return event({"id": "c1", "model": "answering-model", "created": 1, "choices": [choice]})


def counts(read: int = 7, produced: int = 3, **details: Any) -> bytes:
    """The usage at the end of a Chat Completions answer."""
    usage = {"prompt_tokens": read, "completion_tokens": produced, "total_tokens": read + produced, **details}
    return event({"id": "c1", "model": "answering-model", "created": 1, "choices": [], "usage": usage})


DONE = event("[DONE]")


def started(**usage: int) -> bytes:
    """The beginning of a Messages answer."""
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "answering-model",
        "content": [],
        "usage": {"input_tokens": 7, "output_tokens": 1} | usage,
    }
    return event({"type": "message_start", "message": message}, "message_start")


def block(kind: str = "text", **fields: Any) -> bytes:
    fields = fields or ({"text": ""} if kind == "text" else {})
    return event(
        {"type": "content_block_start", "index": 0, "content_block": {"type": kind, **fields}},
        "content_block_start",
    )


def words(text: str) -> bytes:
    delta = {"type": "text_delta", "text": text}
    return event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")


def stopped(reason: str | None = "end_turn", **usage: int) -> bytes:
    """The end of a Messages answer."""
    return event(
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 3} | usage,
        },
        "message_delta",
    ) + event({"type": "message_stop"}, "message_stop")


def answer(sdk: str, text: str = "Hello.", finish: str | None = None) -> httpx2.Response:
    """A whole answer of either protocol. `finish` is the protocol's own word."""
    if sdk == "openai":
        return stream(chunk(text), chunk(finish=finish or "stop"), counts(), DONE, x_request_id="req-1")
    return stream(started(), block(), words(text), stopped(finish or "end_turn"), request_id="req-1")


def failure(status: int, error: object, *, headers: dict[str, str] | None = None, sdk: str = "openai") -> Handler:
    """A handler that always answers with a failure."""
    body = {"error": error} if sdk == "openai" else {"type": "error", "error": error}
    return lambda request: httpx2.Response(status, headers=headers or {}, json=body)
