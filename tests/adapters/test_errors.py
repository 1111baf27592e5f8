"""Every way in which a call fails, through both real SDKs, as one of six kinds."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable

import httpx2
import pytest

from agents.adapters import anthropic, openai
from agents.adapters.base import AdapterError, Completion, Endpoint, ErrorKind
from agents.adapters.calling import Classify, usable_key, within_deadline
from agents.adapters.errors import MESSAGE_LIMIT, Symptom, kind_of, redact, retry_after
from tests.adapters.wire import (
    KEY,
    SDKS,
    Handler,
    ask,
    block,
    chunk,
    endpoint,
    event,
    failure,
    provider,
    started,
    stream,
    words,
)

NETWORK, OVERLOADED, AUTH, REFUSED, TOO_LONG, BAD = (
    ErrorKind.NETWORK,
    ErrorKind.OVERLOADED,
    ErrorKind.AUTH,
    ErrorKind.REFUSED,
    ErrorKind.CONTEXT_TOO_LONG,
    ErrorKind.BAD_REQUEST,
)


def fail(sdk: str, handler: Handler, deadline: float = 5.0) -> AdapterError:
    """The error of a call that must fail."""
    with pytest.raises(AdapterError) as raised:
        asyncio.run(provider(sdk, handler).complete(ask(deadline_seconds=deadline)))
    return raised.value


def raises(error: Exception) -> Handler:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise error

    return handler


STATUSES = [
    (400, {"type": "invalid_request_error", "message": "messages: required"}, BAD),
    (401, {"type": "authentication_error", "message": "invalid key"}, AUTH),
    (402, {"type": "billing_error", "message": "pay first"}, AUTH),
    (403, {"type": "permission_error", "message": "not yours"}, AUTH),
    (404, {"type": "not_found_error", "message": "no such model"}, BAD),
    (408, {"type": "timeout_error", "message": "slow"}, NETWORK),
    (409, {"type": "conflict_error", "message": "lock"}, OVERLOADED),
    (413, {"type": "request_too_large", "message": "over 32 MB"}, TOO_LONG),
    (422, {"type": "invalid_request_error", "message": "bad field"}, BAD),
    (429, {"type": "rate_limit_error", "message": "slow down"}, OVERLOADED),
    (500, {"type": "api_error", "message": "oops"}, OVERLOADED),
    (501, {"type": "x", "message": "no such method"}, BAD),
    (502, {"type": "x", "message": "bad gateway"}, OVERLOADED),
    (503, {"type": "unavailable_error", "message": "loading model"}, OVERLOADED),
    (504, {"type": "timeout_error", "message": "gateway"}, NETWORK),
    (529, {"type": "overloaded_error", "message": "busy"}, OVERLOADED),
]


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize(("status", "error", "kind"), STATUSES)
def test_each_status_has_its_kind(sdk: str, status: int, error: dict[str, str], kind: ErrorKind) -> None:
    assert fail(sdk, failure(status, error, sdk=sdk)).kind is kind


WORDS = [
    ("openai", 429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}, AUTH),
    ("openai", 400, {"code": "billing_hard_limit_reached", "message": "limit"}, AUTH),
    ("openai", 402, {"code": 402, "message": "Insufficient credits"}, AUTH),
    ("openai", 403, {"code": 403, "message": "This model requires moderation: input was flagged"}, REFUSED),
    ("openai", 400, {"code": "content_policy_violation", "message": "rejected by our safety system"}, REFUSED),
    ("openai", 400, {"code": "content_filter", "message": "content management policy"}, REFUSED),
    ("openai", 400, {"code": "invalid_prompt", "message": "flagged as violating our usage policy"}, REFUSED),
    ("openai", 400, {"code": "context_length_exceeded", "message": "too long"}, TOO_LONG),
    ("openai", 400, {"code": "string_above_max_length", "message": "string too long"}, TOO_LONG),
    ("openai", 400, {"code": 400, "type": "exceed_context_size_error", "message": "too big"}, TOO_LONG),
    ("openai", 400, {"message": "This model's maximum context length is 8192 tokens."}, TOO_LONG),
    ("openai", 422, {"message": "`inputs` tokens + `max_new_tokens` must be <= 4096"}, TOO_LONG),
    ("openai", 400, {"message": "Please reduce the length of the messages or completion."}, TOO_LONG),
    ("openai", 429, {"code": "rate_limit_exceeded", "message": "Request too large for m on tokens per min"}, TOO_LONG),
    ("openai", 429, {"code": "rate_limit_exceeded", "message": "Rate limit reached for m"}, OVERLOADED),
    ("anthropic", 400, {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8"}, TOO_LONG),
    ("anthropic", 400, {"type": "invalid_request_error", "message": "Your credit balance is too low"}, AUTH),
    ("anthropic", 400, {"type": "invalid_request_error", "message": "You have reached your spend limit"}, AUTH),
    (
        "anthropic",
        429,
        {"type": "rate_limit_error", "message": "x", "details": {"error_code": "enforced_spend_limit_reached"}},
        AUTH,
    ),
    (
        "anthropic",
        400,
        {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
        REFUSED,
    ),
]


@pytest.mark.parametrize(("sdk", "status", "error", "kind"), WORDS)
def test_the_words_count_more_than_the_status(sdk: str, status: int, error: dict[str, object], kind: ErrorKind) -> None:
    assert fail(sdk, failure(status, error, sdk=sdk)).kind is kind


TRANSPORT: list[tuple[Exception, ErrorKind]] = [
    (httpx2.ConnectError("All connection attempts failed"), NETWORK),
    (httpx2.ConnectTimeout("timed out"), NETWORK),
    (httpx2.ReadTimeout("timed out"), NETWORK),
    (httpx2.WriteError("broken pipe"), NETWORK),
    (httpx2.RemoteProtocolError("peer closed connection"), NETWORK),
]


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize(("error", "kind"), TRANSPORT)
def test_each_failure_of_the_connection_has_its_kind(sdk: str, error: Exception, kind: ErrorKind) -> None:
    assert fail(sdk, raises(error)).kind is kind


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("error", [httpx2.ReadError("reset"), httpx2.ReadTimeout("stalled")])
def test_a_stream_that_breaks_in_the_middle_is_a_network_failure(sdk: str, error: Exception) -> None:
    begun = (chunk("Hel"),) if sdk == "openai" else (started(), block(), words("Hel"))
    assert fail(sdk, lambda request: stream(*begun, then=error)).kind is NETWORK


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("whole", [False, True])
def test_a_stream_that_ends_without_a_reason_is_cut_off(sdk: str, whole: bool) -> None:
    begun = (chunk("Hel"),) if sdk == "openai" else (started(), block(), words("Hel"))
    error = fail(sdk, lambda request: stream(*(begun if whole else ())))
    assert error.kind is NETWORK
    assert "broke off" in str(error)


EVENTS = [
    ("openai", {"type": "server_error", "message": "The server had an error"}, OVERLOADED),
    ("openai", {"code": "rate_limit_exceeded", "message": "slow down"}, OVERLOADED),
    ("openai", {"code": 502, "message": "Provider returned error"}, OVERLOADED),
    ("openai", {"code": 401, "message": "No auth"}, AUTH),
    ("openai", {"type": "invalid_request_error", "message": "bad"}, BAD),
    ("openai", {"message": "something"}, OVERLOADED),
    ("openai", "only a text", OVERLOADED),
    ("anthropic", {"type": "overloaded_error", "message": "Overloaded"}, OVERLOADED),
    ("anthropic", {"type": "api_error", "message": "Internal server error"}, OVERLOADED),
    ("anthropic", {"type": "timeout_error", "message": "slow"}, NETWORK),
    ("anthropic", {"type": "authentication_error", "message": "revoked"}, AUTH),
    ("anthropic", {"type": "invalid_request_error", "message": "prompt is too long"}, TOO_LONG),
    ("anthropic", {"type": "invalid_request_error", "message": "bad"}, BAD),
]


@pytest.mark.parametrize(("sdk", "said", "kind"), EVENTS)
def test_an_error_in_the_middle_of_a_stream_has_the_kind_that_it_names(sdk: str, said: object, kind: ErrorKind) -> None:
    if sdk == "openai":
        pieces = chunk("Hel"), event({"error": said})
    else:
        pieces = started(), event({"type": "error", "error": said}, "error")
    assert fail(sdk, lambda request: stream(*pieces)).kind is kind


GARBAGE: list[tuple[str, Callable[[], httpx2.Response]]] = [
    ("openai", lambda: stream(event("{broken"))),
    ("openai", lambda: stream(event("5"))),
    ("openai", lambda: stream(event({"choices": 5}))),
    ("openai", lambda: stream(event({"choices": [{"delta": "text"}]}))),
    ("openai", lambda: stream(b"data: \xff\xfe\n\n")),
    ("anthropic", lambda: stream(event("{broken", "message_start"))),
    ("anthropic", lambda: stream(event("5", "message_start"))),
    ("anthropic", lambda: stream(words("before any block"))),
    ("anthropic", lambda: stream(event({"type": "message_start", "message": "m"}, "message_start"))),
    ("openai", lambda: httpx2.Response(200, headers={"content-type": "application/json"}, content=b"{")),
    ("anthropic", lambda: httpx2.Response(200, headers={"content-type": "application/json"}, content=b"{")),
]


@pytest.mark.parametrize(("sdk", "response"), GARBAGE)
def test_an_answer_that_cannot_be_read_is_a_network_failure(sdk: str, response: Callable[[], httpx2.Response]) -> None:
    error = fail(sdk, lambda request: response())
    assert error.kind is NETWORK
    assert "cannot be read" in str(error)


@pytest.mark.parametrize("sdk", SDKS)
def test_a_page_instead_of_an_answer_is_a_wrong_address(sdk: str) -> None:
    error = fail(sdk, lambda request: httpx2.Response(200, html="<h1>Welcome</h1>"))
    assert error.kind is BAD
    assert "address" in str(error)


@pytest.mark.parametrize("sdk", SDKS)
def test_an_error_with_status_200_is_read_as_the_error_that_it_is(sdk: str) -> None:
    body = {"error": {"code": 429, "message": "Rate limited upstream"}}
    assert fail(sdk, lambda request: httpx2.Response(200, json=body)).kind is OVERLOADED


@pytest.mark.parametrize("classify", [openai.failure_of, anthropic.failure_of])
def test_a_bug_is_not_taken_for_a_failure_of_the_provider(classify: Classify) -> None:
    async def buggy() -> Completion:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(within_deadline(buggy(), seconds=5, endpoint=endpoint("openai"), classify=classify))


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "600"}, 600.0), ({"retry-after-ms": "1500"}, 1.5), ({}, None), ({"retry-after": "x"}, None)],
)
def test_the_wait_that_a_server_asks_for_is_kept(sdk: str, headers: dict[str, str], seconds: float | None) -> None:
    error = fail(sdk, failure(429, {"message": "slow down"}, headers=headers, sdk=sdk))
    assert error.retry_after == seconds


def test_a_wait_may_be_told_as_a_date_and_never_lasts_over_a_day() -> None:
    assert retry_after({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}) == 0.0
    assert retry_after({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}) == 86_400.0
    assert retry_after({"retry-after": "999999999"}) == 86_400.0


@pytest.mark.parametrize("sdk", SDKS)
def test_the_providers_request_id_is_kept(sdk: str) -> None:
    headers = {"x-request-id": "req-9", "request-id": "req-9"}
    error = fail(sdk, failure(500, {"message": "oops"}, headers=headers, sdk=sdk))
    assert error.provider_request_id == "req-9"


ECHOES = [
    f"Incorrect API key provided: {KEY}.",
    "Incorrect API key provided: sk-te*************cdef.",
    f"Illegal header: Authorization: Bearer {KEY}",
    f"No key {KEY!r} among ours",
]


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("text", ECHOES)
def test_no_key_stands_in_an_error_or_in_what_is_logged_of_it(sdk: str, text: str) -> None:
    error = fail(sdk, failure(401, {"message": text}, sdk=sdk))
    everything = "".join(traceback.format_exception(error)) + repr(error) + str(error)
    assert "test-0123" not in everything
    assert "cdef" not in everything
    assert error.__context__ is None
    assert error.__cause__ is None


def test_a_key_of_any_shape_is_taken_out() -> None:
    home = endpoint("openai", api_key="our own 1234")
    assert redact("No entry for our own 1234 here", home) == "No entry for [key] here"


def test_an_endpoint_does_not_show_its_key_or_the_password_in_its_address() -> None:
    shown = Endpoint("openai", "http://ada:secret@models.test:8080/v1", KEY)
    assert KEY not in repr(shown)
    assert shown.host == "models.test:8080"


def test_a_page_as_an_error_is_cut_to_a_readable_length() -> None:
    error = fail("openai", lambda request: httpx2.Response(502, text="<p>down</p>\n" * 1000))
    assert len(str(error)) < MESSAGE_LIMIT + 100
    assert "\n" not in str(error)


@pytest.mark.parametrize("key", ["sk-ключ", "sk-a b", "sk-a\nb"])
@pytest.mark.parametrize("make", [openai.OpenAIProvider, anthropic.AnthropicProvider])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(key: str, make: Callable[[Endpoint], object]) -> None:
    with pytest.raises(AdapterError) as raised:
        make(Endpoint("openai", "http://models.test", key))
    assert raised.value.kind is AUTH
    assert key not in str(raised.value)


def test_white_space_around_a_key_is_no_part_of_it_and_no_key_is_fine() -> None:
    assert usable_key(endpoint("openai", api_key=f" {KEY}\n")) == KEY
    assert usable_key(endpoint("openai", api_key="")) == "none"


def test_a_key_of_one_letter_does_not_garble_messages() -> None:
    assert redact("no such model", endpoint("openai", api_key="o")) == "no such model"


@pytest.mark.parametrize("sdk", SDKS)
def test_an_answer_that_takes_longer_than_the_deadline_is_a_network_failure(sdk: str) -> None:
    class Slow(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            await asyncio.sleep(30)
            raise AssertionError("not reached")

    make = openai.OpenAIProvider if sdk == "openai" else anthropic.AnthropicProvider
    slow = make(endpoint(sdk), transport=httpx2.AsyncClient(transport=Slow()))
    with pytest.raises(AdapterError) as raised:
        asyncio.run(slow.complete(ask(deadline_seconds=0.05)))
    assert raised.value.kind is NETWORK
    assert raised.value.retryable


def test_only_network_and_overload_may_pass_by_themselves() -> None:
    assert {kind for kind in ErrorKind if AdapterError(kind, "x").retryable} == {NETWORK, OVERLOADED}


def test_an_unknown_client_error_is_a_bad_request() -> None:
    assert kind_of(Symptom(418, "I'm a teapot")) is BAD
