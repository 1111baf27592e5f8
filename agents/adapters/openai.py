"""OpenAI's Chat Completions, and every server that speaks them: Ollama, vLLM, llama.cpp, OpenRouter and
others.

Answers are streamed: a long one then cannot run into a time-out for reading, and cancelling ends it at once.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionChunk

from agents.adapters.base import (
    AdapterError,
    Completion,
    Endpoint,
    ErrorKind,
    ModelRequest,
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
    kind_of,
    reported_failure,
    transport_failure,
    unreadable,
)

_VENDOR_HOSTS = ("api.openai.com", "openai.azure.com", "services.ai.azure.com")

_STOP_REASONS = {
    "stop": StopReason.END,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSED,
}

# The vendor's reasoning models take only the first, most other servers know only the second.
_LIMIT_FIELDS = ("max_completion_tokens", "max_tokens")
# What a server may not know and an answer does not depend on.
_OPTIONAL_FIELDS = ("stream_options", "reasoning_effort", "prompt_cache_key")


class OpenAIProvider:
    """One endpoint that speaks Chat Completions."""

    def __init__(self, endpoint: Endpoint, *, transport: httpx2.AsyncClient | None = None) -> None:
        self._endpoint = endpoint
        self._client = _client(endpoint, transport or http_client(endpoint))
        # (model, field) that the server has declined; it need not be asked again.
        self._declined: set[tuple[str, str]] = set()

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
            if answer.has_begun:  # then the prompt was read, and is billed even if the answer breaks off
                failure.usage = answer.usage_for(request)
            raise

    async def close(self) -> None:
        """See Provider."""
        await self._client.close()

    async def _ask(self, request: ModelRequest, answer: _Answer) -> Completion:
        started = time.monotonic()
        async with await self._open(request) as stream:
            await require_stream(stream.response, self._endpoint)
            async for chunk in stream:
                answer.take(chunk)
            request_id = stream.response.headers.get("x-request-id", "")
        if not answer.finish:
            raise cut_off(self._endpoint)
        return Completion(
            text=answer.text,
            model=answer.model,
            stop_reason=answer.stop_reason,
            usage=answer.usage_for(request),
            seconds=time.monotonic() - started,
            provider_request_id=request_id,
        )

    async def _open(self, request: ModelRequest) -> openai.AsyncStream[ChatCompletionChunk]:
        """Begin an answer; leave out, once and for all, what the server says it does not take."""
        tried: set[str] = set()  # by this call: another one may have learnt the same meanwhile
        while True:
            parameters = self._parameters(request)
            try:
                stream: openai.AsyncStream[ChatCompletionChunk]
                stream = await self._client.chat.completions.create(**parameters, stream=True)
                return stream
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                declined = declined_field(error, parameters)
                if declined is None or declined in tried:
                    raise
                tried.add(declined)
                self._declined.add((request.model, declined))

    def _parameters(self, request: ModelRequest) -> dict[str, Any]:
        messages = [{"role": message.role.value, "content": message.text} for message in request.messages]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        parameters: dict[str, Any] = {
            "model": request.model,
            "messages": messages,
            self._limit_field(request.model): request.output_ceiling,
            "stream_options": {"include_usage": True},
        }
        if effort := request.thinking_style.effort(request.thinking):
            parameters["reasoning_effort"] = effort.value
        if request.cache_key:
            parameters["prompt_cache_key"] = request.cache_key
        for name in _OPTIONAL_FIELDS:
            if (request.model, name) in self._declined:
                parameters.pop(name, None)
        return parameters

    def _limit_field(self, model: str) -> str:
        usual, other = _LIMIT_FIELDS if _is_vendor(self._endpoint) else reversed(_LIMIT_FIELDS)
        if (model, usual) in self._declined and (model, other) not in self._declined:
            return other
        return usual


def _client(endpoint: Endpoint, transport: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    client = openai.AsyncOpenAI(
        api_key=usable_key(endpoint),
        base_url=usable_url(endpoint),
        max_retries=0,
        timeout=timeouts(endpoint),
        http_client=transport,
    )
    # The SDK takes these from the environment; there they belong to another key than, perhaps, this one.
    client.organization = client.project = None
    if endpoint.set_by_company:
        client._custom_headers = {}
    return client


def _is_vendor(endpoint: Endpoint) -> bool:
    host = urlsplit(endpoint.url).hostname or ""
    return any(host == vendor or host.endswith("." + vendor) for vendor in _VENDOR_HOSTS)


@dataclass(slots=True)
class _Answer:
    """An answer as it comes in. `finish` stays empty until the server has said why it ends, `usage` until it has said
    what it counted."""

    model: str
    pieces: list[str] = field(default_factory=list)
    finish: str = ""
    refused: bool = False
    has_begun: bool = False
    usage: Usage = field(default_factory=Usage)

    def take(self, chunk: ChatCompletionChunk) -> None:
        """Take one piece in. Raises UnreadableError for one that has another shape than the SDK says."""
        try:
            self._take(chunk)
        except (AttributeError, TypeError) as error:
            # The SDK does not check what it is sent, so that reading is where a foreign shape shows.
            raise UnreadableError from error

    def _take(self, chunk: ChatCompletionChunk) -> None:
        self.model = told_text(chunk.model) or self.model
        if chunk.usage:
            self.usage = usage_of(chunk.usage)
        for choice in chunk.choices or ():
            if choice.delta:
                self.pieces.append(told_text(choice.delta.content))
                if choice.delta.refusal:
                    self.refused = True
                    self.pieces.append(told_text(choice.delta.refusal))
            self.finish = told_text(choice.finish_reason) or self.finish
        self.has_begun = True

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def stop_reason(self) -> StopReason:
        if self.refused:
            return StopReason.REFUSED
        return _STOP_REASONS.get(self.finish, StopReason.OTHER)

    def usage_for(self, request: ModelRequest) -> Usage:
        """What the server counted for the answer to this request, else an estimate."""
        return self.usage if self.usage.input_tokens else estimated_usage(request, self.text)


def usage_of(reported: CompletionUsage) -> Usage:
    """The vendor's counts in our convention; its input counts hold the cached tokens already. No part is more than its
    whole."""
    read, produced = reported.prompt_tokens_details, reported.completion_tokens_details
    input_tokens, output_tokens = told_count(reported.prompt_tokens), told_count(reported.completion_tokens)
    cached = min(told_count(read.cached_tokens), input_tokens) if read else 0
    return Usage(
        input_tokens=input_tokens,
        cached_input_tokens=cached,
        cache_write_tokens=min(told_count(read.cache_write_tokens), input_tokens - cached) if read else 0,
        output_tokens=output_tokens,
        reasoning_tokens=min(told_count(produced.reasoning_tokens), output_tokens) if produced else 0,
    )


def failure_of(error: Exception, endpoint: Endpoint) -> AdapterError | None:
    """The failure behind what this SDK raises; None for an exception that it does not raise."""
    if isinstance(error, openai.APIResponseValidationError):
        return unreadable(endpoint)
    if isinstance(error, openai.APIStatusError):
        return reported_failure(_symptom(error), endpoint, error.response.headers, request_id=error.request_id or "")
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        known = transport_failure(cause, endpoint) if isinstance(cause, Exception) else None
        return known or AdapterError(ErrorKind.NETWORK, f"The connection to {endpoint.host} failed.")
    if isinstance(error, openai.APIError):
        return reported_failure(_symptom(error), endpoint, {})
    return transport_failure(error, endpoint)


def _symptom(error: openai.APIError) -> Symptom:
    status = error.status_code if isinstance(error, openai.APIStatusError) else None
    return symptom_of(error.body, status=status, otherwise=error.message)


def declined_field(error: openai.APIStatusError, parameters: dict[str, Any]) -> str | None:
    """The field that a server complains of, if it is one that we can do without or say otherwise."""
    if kind_of(_symptom(error)) is not ErrorKind.BAD_REQUEST:
        return None
    for name in (*_LIMIT_FIELDS, *_OPTIONAL_FIELDS):
        if name in parameters and (error.param == name or re.search(rf"\b{name}\b", error.message)):
            return name
    return None
