"""Anthropic's Messages, and every server that speaks them. Answers are streamed, as for Chat Completions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import anthropic
import httpx2
from anthropic.types import (
    MessageDeltaUsage,
    MessageParam,
    OutputConfigParam,
    RawMessageStreamEvent,
    TextBlockParam,
    ThinkingConfigParam,
)
from anthropic.types import Usage as MessageUsage

from agents.adapters.base import (
    AdapterError,
    Completion,
    Endpoint,
    ErrorKind,
    ModelRequest,
    Role,
    StopReason,
    Usage,
)
from agents.adapters.calling import (
    http_client,
    require_stream,
    symptom_of,
    timeouts,
    usable_key,
    usable_url,
    within_deadline,
)
from agents.adapters.counting import estimated_usage, told_count, told_text
from agents.adapters.errors import (
    Symptom,
    UnreadableError,
    cut_off,
    reported_failure,
    transport_failure,
    unreadable,
)
from agents.adapters.thinking import ThinkingLevel

_STOP_REASONS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "max_tokens": StopReason.MAX_TOKENS,
    "refusal": StopReason.REFUSED,
}
_WINDOW_FULL = "model_context_window_exceeded"

_MOST_BREAKPOINTS = 4  # the API refuses a fifth


class AnthropicProvider:
    """One endpoint that speaks Messages."""

    def __init__(self, endpoint: Endpoint, *, transport: httpx2.AsyncClient | None = None) -> None:
        self._endpoint = endpoint
        self._client = anthropic.AsyncAnthropic(
            api_key=usable_key(endpoint),
            base_url=usable_url(endpoint),
            max_retries=0,
            timeout=timeouts(endpoint),
            http_client=transport or http_client(endpoint),
        )
        if endpoint.set_by_company:
            self._client._custom_headers = {}

    async def complete(self, request: ModelRequest) -> Completion:
        """See Provider."""
        answer = _Answer(model=request.model)
        try:
            return await within_deadline(
                self._ask(request, answer),
                seconds=request.deadline_seconds,
                endpoint=self._endpoint,
                classify=failure_of,
            )
        except AdapterError as failure:
            # What was read is told at the beginning of an answer, so it is known even if that breaks off.
            failure.usage = answer.counts.usage()
            raise

    async def close(self) -> None:
        """See Provider."""
        await self._client.close()

    async def _ask(self, request: ModelRequest, answer: _Answer) -> Completion:
        started = time.monotonic()
        async with await self._open(request) as stream:
            await require_stream(stream.response, self._endpoint)
            async for event in stream:
                answer.take(event)
            request_id = stream.response.headers.get("request-id", "")
        if answer.stop is None:
            raise cut_off(self._endpoint)
        if answer.stop == _WINDOW_FULL:
            raise AdapterError(
                ErrorKind.CONTEXT_TOO_LONG,
                f"The answer of {answer.model} filled its context window.",
                provider_request_id=request_id,
            )
        return Completion(
            text=answer.text,
            model=answer.model,
            stop_reason=_STOP_REASONS.get(answer.stop, StopReason.OTHER),
            usage=answer.counts.usage() if answer.counts.told else estimated_usage(request, answer.text),
            seconds=time.monotonic() - started,
            provider_request_id=request_id,
        )

    async def _open(self, request: ModelRequest) -> anthropic.AsyncStream[RawMessageStreamEvent]:
        marks = _Marks(_MOST_BREAKPOINTS)
        system = marks.blocks(request.system, request.system_breakpoints)
        messages = [
            _turn(message.role, marks.blocks(message.text, message.breakpoints)) for message in request.messages
        ]
        thinking, output = thinking_fields(request)
        return await self._client.messages.create(
            model=request.model,
            max_tokens=request.output_ceiling,
            system=system or anthropic.omit,
            messages=messages,
            thinking=thinking or anthropic.omit,
            output_config=output or anthropic.omit,
            stream=True,
        )


def thinking_fields(request: ModelRequest) -> tuple[ThinkingConfigParam | None, OutputConfigParam | None]:
    """The fields that ask for the level: an effort where the model weighs it itself, else a budget."""
    budget = request.thinking_style.budget(request.thinking)
    if budget is not None:
        return {"type": "enabled", "budget_tokens": budget}, None
    match request.thinking_style.effort(request.thinking):
        case None:
            return None, None
        case ThinkingLevel.XHIGH:
            return {"type": "adaptive"}, {"effort": "xhigh"}
        case ThinkingLevel.HIGH:
            return {"type": "adaptive"}, {"effort": "high"}
        case ThinkingLevel.MEDIUM:
            return {"type": "adaptive"}, {"effort": "medium"}
        case _:
            return {"type": "adaptive"}, {"effort": "low"}


def _turn(role: Role, content: list[TextBlockParam]) -> MessageParam:
    if role is Role.USER:
        return {"role": "user", "content": content}
    return {"role": "assistant", "content": content}


class _Marks:
    """Texts as blocks that end where caching is worth it, with no more marks than the API allows."""

    def __init__(self, allowed: int) -> None:
        self._left = allowed

    def blocks(self, text: str, breakpoints: tuple[int, ...]) -> list[TextBlockParam]:
        blocks: list[TextBlockParam] = []
        for piece, worth_caching in _pieces(text, breakpoints):
            block: TextBlockParam = {"type": "text", "text": piece}
            if worth_caching and self._left:
                self._left -= 1
                block["cache_control"] = {"type": "ephemeral"}
            blocks.append(block)
        return blocks


def _pieces(text: str, breakpoints: tuple[int, ...]) -> Iterator[tuple[str, bool]]:
    """A text cut at its breakpoints. The API refuses a blank piece, so that one joins what follows."""
    start = 0
    for end in sorted(breakpoints):
        if text[start:end].strip():
            yield text[start:end], True
            start = end
    if text[start:].strip():
        yield text[start:], False


@dataclass(slots=True)
class _Counts:
    """The vendor's counts: totals so far, told at the start and at the end; one left out is unchanged."""

    fresh: int = 0
    read: int = 0
    written: int = 0
    produced: int = 0
    thought: int = 0

    def take(self, reported: MessageUsage | MessageDeltaUsage) -> None:
        self.fresh = _known(reported.input_tokens, self.fresh)
        self.read = _known(reported.cache_read_input_tokens, self.read)
        self.written = _known(reported.cache_creation_input_tokens, self.written)
        self.produced = _known(reported.output_tokens, self.produced)
        if reported.output_tokens_details:
            self.thought = told_count(reported.output_tokens_details.thinking_tokens)

    @property
    def told(self) -> bool:
        return self.fresh + self.read + self.written > 0

    def usage(self) -> Usage:
        """In our convention: the vendor's input leaves out what was read from a cache or put into one."""
        return Usage(
            input_tokens=self.fresh + self.read + self.written,
            cached_input_tokens=self.read,
            cache_write_tokens=self.written,
            output_tokens=self.produced,
            reasoning_tokens=min(self.thought, self.produced),
        )


def _known(reported: int | None, otherwise: int) -> int:
    return otherwise if reported is None else told_count(reported)


@dataclass(slots=True)
class _Answer:
    """An answer as it comes in. `stop` stays None until the server has said why it ends."""

    model: str
    stop: str | None = None
    counts: _Counts = field(default_factory=_Counts)
    blocks: list[list[str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of all blocks. Thinking may stand between two, so that they do not share a line."""
        return "\n\n".join(text for pieces in self.blocks if (text := "".join(pieces)))

    def take(self, event: RawMessageStreamEvent) -> None:
        """Take one event in. Raises UnreadableError for one that has another shape than the SDK says."""
        try:
            self._take(event)
        except (AttributeError, TypeError, IndexError) as error:
            # The SDK does not check what it is sent, so that reading is where a foreign shape shows.
            raise UnreadableError from error

    def _take(self, event: RawMessageStreamEvent) -> None:
        if event.type == "message_start":
            self.model = told_text(event.message.model) or self.model
            self.counts.take(event.message.usage)
        elif event.type == "content_block_start":
            self.blocks.append([told_text(event.content_block.text)] if event.content_block.type == "text" else [])
        elif event.type == "content_block_delta":
            if event.delta.type == "text_delta":
                self.blocks[-1].append(told_text(event.delta.text))
        elif event.type == "message_delta":
            self.stop = told_text(event.delta.stop_reason) or self.stop
            self.counts.take(event.usage)


def failure_of(error: Exception, endpoint: Endpoint) -> AdapterError | None:
    """The failure behind what this SDK raises; None for an exception that it does not raise."""
    if isinstance(error, anthropic.APIResponseValidationError):
        return unreadable(endpoint)
    if isinstance(error, anthropic.APIStatusError):
        return reported_failure(_symptom(error), endpoint, error.response.headers, request_id=error.request_id or "")
    if isinstance(error, anthropic.APIConnectionError):
        cause = error.__cause__
        known = transport_failure(cause, endpoint) if isinstance(cause, Exception) else None
        return known or AdapterError(ErrorKind.NETWORK, f"The connection to {endpoint.host} failed.")
    return transport_failure(error, endpoint)


def _symptom(error: anthropic.APIStatusError) -> Symptom:
    body = error.body.get("error", error.body) if isinstance(error.body, dict) else error.body
    symptom = symptom_of(body, status=error.status_code, otherwise=error.message)
    return replace(symptom, code=error.error_code) if error.error_code else symptom
