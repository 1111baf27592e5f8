"""What every provider takes and gives: a request, a completion, or one of six kinds of failure."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from agents.adapters.thinking import NO_THINKING, ThinkingLevel, ThinkingStyle


class Role(enum.StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation. `breakpoints` are offsets in characters, up to which caching pays."""

    role: Role
    text: str
    breakpoints: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model.

    `messages` begins with the user and alternates. `max_output_tokens` is the limit of the answer,
    `deadline_seconds` that of the whole call: connecting, waiting, retrying and reading. `cache_key` names
    prompts that share a beginning, for servers that cache by it; the breakpoints say the same to those that
    cache by place.
    """

    system: str
    messages: tuple[Message, ...]
    model: str
    max_output_tokens: int
    deadline_seconds: float
    thinking: ThinkingLevel = ThinkingLevel.OFF
    thinking_style: ThinkingStyle = NO_THINKING
    cache_key: str = ""
    system_breakpoints: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        turns = [message.role for message in self.messages]
        expected = [Role.USER if at % 2 == 0 else Role.ASSISTANT for at in range(len(turns))]
        if not turns or turns != expected or turns[-1] is not Role.USER:
            raise ValueError("messages must begin and end with the user and alternate")
        if self.max_output_tokens < 1 or self.deadline_seconds <= 0:
            raise ValueError("max_output_tokens and deadline_seconds must be positive")

    @property
    def output_ceiling(self) -> int:
        """The most tokens that this call may produce and be billed for, thinking included."""
        return self.thinking_style.output_ceiling(self.thinking, self.max_output_tokens)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or, added up, of several.

    One convention for all providers: `input_tokens` is everything that was read, of which
    `cached_input_tokens` came from a cache and `cache_write_tokens` went into one; `output_tokens` is
    everything that was produced, of which `reasoning_tokens` were thought. `estimated` says that the provider
    reported nothing and the figures were counted here. `told_microdollars` is what the call cost by whoever made it,
    where they say so, else it is reckoned by the model's price; a sum of several does not have it.
    """

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False
    told_microdollars: int | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            estimated=self.estimated or other.estimated,
        )


class StopReason(enum.StrEnum):
    """Why a model stopped: it was done, it hit the limit, it declined, or something that is none of these."""

    END = "end"
    MAX_TOKENS = "max_tokens"
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer. `text` is exactly what was received, `model` the one that answered.

    `seconds` runs from the first attempt to the last byte.
    """

    text: str
    model: str
    stop_reason: StopReason
    usage: Usage
    seconds: float
    provider_request_id: str = ""
    attempts: int = 1


class ErrorKind(enum.StrEnum):
    """The kinds of failure, each of which has one treatment. The last is of programs that run here, the others of
    models that are called."""

    NETWORK = "network"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    REFUSED = "refused"
    CONTEXT_TOO_LONG = "context_too_long"
    BAD_REQUEST = "bad_request"
    PROGRAM = "program"


RETRYABLE = frozenset({ErrorKind.NETWORK, ErrorKind.OVERLOADED})


class AdapterError(Exception):
    """A model did not answer. The message is fit to be shown to people and never holds a key.

    `retry_after` is what the provider asked to wait, in seconds; `usage` what it billed before it failed, estimated
    where it did not say so.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retry_after: float | None = None,
        provider_request_id: str = "",
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        self.provider_request_id = provider_request_id
        self.usage = usage or Usage()
        self.attempts = 1

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in RETRYABLE

    @property
    def was_billed(self) -> bool:
        """Whether the answer had begun, so that asking again costs anew."""
        return bool(self.usage.input_tokens or self.usage.output_tokens)

    def __repr__(self) -> str:
        return f"AdapterError({self.kind.value}, {self.message!r}, retry_after={self.retry_after})"


VENDOR_URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a provider is called and with which key. Equal endpoints share their connections.

    An empty `base_url` means the vendor's own. `read_timeout_seconds` is the longest silence between two
    pieces of an answer; it is long because some servers say nothing while they read a prompt or think.
    `set_by_company` keeps what the operator's environment tells the SDKs to send (headers for a gateway of theirs) from
    going there, and `only_public` keeps it out of private networks. `script` is for the scripted provider alone.
    """

    provider: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    connect_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 240.0
    set_by_company: bool = False
    only_public: bool = False
    script: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """The address that is called; empty for a provider that has none."""
        return self.base_url or VENDOR_URLS.get(self.provider, "")

    @property
    def host(self) -> str:
        """Host and port, for messages: an address may carry a password, which this leaves out."""
        try:
            parts = urlsplit(self.url)
            port = f":{parts.port}" if parts.port else ""
            return f"{parts.hostname}{port}" if parts.hostname else self.provider
        except ValueError:  # a port or an address in brackets that is none
            return self.provider


class Provider(Protocol):
    """One endpoint that can answer. It is used on one event loop only."""

    async def complete(self, request: ModelRequest) -> Completion:
        """Ask once, without retrying. Cancelling ends the request at the provider.

        Raises AdapterError; whatever else it raises is a bug.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...
