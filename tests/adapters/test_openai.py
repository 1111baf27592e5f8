"""Chat Completions through the real SDK."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from agents.adapters.base import AdapterError, Completion, ErrorKind, Message, Role, StopReason, Usage
from agents.adapters.thinking import COMMON_EFFORTS, ThinkingLevel
from tests.adapters.wire import DONE, Handler, answer, ask, chunk, counts, endpoint, event, failure, provider, stream


def complete(handler: Handler, /, base_url: str = "http://models.test/v1", **changes: Any) -> Completion:
    return asyncio.run(provider("openai", handler, base_url=base_url).complete(ask(**changes)))


def sent(base_url: str = "http://models.test/v1", **changes: Any) -> dict[str, Any]:
    """The body that a request goes out with."""
    bodies: list[dict[str, Any]] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return answer("openai")

    complete(handler, base_url=base_url, **changes)
    return bodies[0]


def test_the_pieces_of_an_answer_become_one_completion() -> None:
    handler = lambda request: stream(  # noqa: E731
        chunk("Hel"), chunk("lo."), chunk(finish="stop"), counts(), DONE, x_request_id="req-7"
    )
    completion = complete(handler)
    assert completion.text == "Hello."
    assert completion.model == "answering-model"
    assert completion.stop_reason is StopReason.END
    assert completion.provider_request_id == "req-7"
    assert completion.usage == Usage(input_tokens=7, output_tokens=3)


def test_cached_and_thought_tokens_are_part_of_the_totals() -> None:
    usage = counts(
        100,
        50,
        prompt_tokens_details={"cached_tokens": 60, "cache_write_tokens": 20},
        completion_tokens_details={"reasoning_tokens": 40},
    )
    completion = complete(lambda request: stream(chunk("x", "stop"), usage, DONE))
    assert completion.usage == Usage(100, 60, 20, 50, 40)


def test_a_server_that_reports_no_usage_gets_an_estimate_marked_as_one() -> None:
    completion = complete(lambda request: stream(chunk("Some words here.", "stop"), DONE))
    assert completion.usage.estimated
    assert completion.usage.input_tokens > 0
    assert completion.usage.output_tokens > 0


@pytest.mark.parametrize("told", [(-5, 3), (10**12, 3), ("many", 3), (0, 0), (True, 3), (1.5, 3)])
def test_a_server_that_reports_no_sensible_usage_gets_an_estimate_too(told: tuple[Any, int]) -> None:
    usage = event({"model": "m", "choices": [], "usage": {"prompt_tokens": told[0], "completion_tokens": told[1]}})
    completion = complete(lambda request: stream(chunk("Some words here.", "stop"), usage, DONE))
    assert completion.usage.estimated
    assert completion.usage.input_tokens > 0


def test_no_part_of_what_is_counted_is_more_than_the_whole() -> None:
    usage = counts(
        100,
        50,
        prompt_tokens_details={"cached_tokens": 160, "cache_write_tokens": 20},
        completion_tokens_details={"reasoning_tokens": -40},
    )
    assert complete(lambda request: stream(chunk("x", "stop"), usage, DONE)).usage == Usage(100, 100, 0, 50, 0)


def test_what_an_answer_cost_is_estimated_when_it_breaks_off_and_is_nothing_before_it_begins() -> None:
    with pytest.raises(AdapterError) as broken:
        complete(lambda request: stream(chunk("Some words, "), then=httpx2.ReadError("reset")))
    assert broken.value.usage.estimated
    assert broken.value.usage.input_tokens > 0
    assert broken.value.usage.output_tokens > 0
    assert broken.value.was_billed
    with pytest.raises(AdapterError) as refused:
        complete(failure(429, {"message": "slow down"}))
    assert refused.value.usage == Usage()


@pytest.mark.parametrize(
    "said",
    [
        {"model": 5, "choices": []},
        {"model": "m", "choices": [{"index": 0, "delta": {"content": ["x"]}, "finish_reason": None}]},
        {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": ["stop"]}]},
        {"model": "m", "choices": [], "usage": "none"},
    ],
)
def test_what_is_no_text_where_a_text_belongs_cannot_be_read(said: dict[str, Any]) -> None:
    with pytest.raises(AdapterError, match="cannot be read"):
        complete(lambda request: stream(event(said), chunk(finish="stop"), DONE))


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", StopReason.END),
        ("length", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSED),
        ("eos", StopReason.OTHER),
    ],
)
def test_each_finish_reason_has_its_stop_reason(finish: str, reason: StopReason) -> None:
    assert complete(lambda request: answer("openai", finish=finish)).stop_reason is reason


def test_a_refusal_is_kept_as_the_text_of_a_refused_answer() -> None:
    completion = complete(lambda request: stream(chunk(None, "stop", refusal="I cannot."), counts(), DONE))
    assert completion.stop_reason is StopReason.REFUSED
    assert completion.text == "I cannot."


def test_thinking_that_a_server_sends_apart_is_no_part_of_the_answer() -> None:
    pieces = chunk(None, reasoning_content="Hm."), chunk("Yes.", "stop"), counts(), DONE
    assert complete(lambda request: stream(*pieces)).text == "Yes."


def test_the_conversation_goes_out_with_the_system_message_first() -> None:
    messages = (
        Message(Role.USER, "One?"),
        Message(Role.ASSISTANT, "Tw"),
        Message(Role.USER, "Go on."),
    )
    body = sent(messages=messages)
    assert [(turn["role"], turn["content"]) for turn in body["messages"]] == [
        ("system", "You are Ada."),
        ("user", "One?"),
        ("assistant", "Tw"),
        ("user", "Go on."),
    ]


def test_the_vendor_and_other_servers_are_told_the_limit_in_their_own_field() -> None:
    vendor = sent(base_url="")
    assert (vendor["max_completion_tokens"], "max_tokens" in vendor) == (100, False)
    other = sent()
    assert (other["max_tokens"], "max_completion_tokens" in other) == (100, False)


def test_no_thinking_field_is_sent_when_thinking_is_off() -> None:
    assert "reasoning_effort" not in sent(thinking_style=COMMON_EFFORTS)


def test_the_thinking_level_is_sent_as_the_nearest_effort() -> None:
    asked = {"thinking": ThinkingLevel.XHIGH, "thinking_style": COMMON_EFFORTS}
    assert sent(**asked)["reasoning_effort"] == "high"


def test_a_field_that_a_server_declines_is_left_out_from_then_on() -> None:
    bodies: list[dict[str, Any]] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        bodies.append(body)
        for name in ("max_tokens", "reasoning_effort", "prompt_cache_key"):
            if name in body:
                error = {"message": f"Unsupported parameter: '{name}'.", "param": name, "type": "x"}
                return httpx2.Response(400, json={"error": error})
        return answer("openai")

    async def twice() -> None:
        server = provider("openai", handler)
        request = ask(cache_key="ada", thinking=ThinkingLevel.LOW, thinking_style=COMMON_EFFORTS)
        await server.complete(request)
        await server.complete(request)

    asyncio.run(twice())
    assert len(bodies) == 5  # three declined, one answered, and the second call at once
    assert bodies[-1].keys() == {"model", "messages", "max_completion_tokens", "stream_options", "stream"}


def test_calls_that_meet_the_same_refusal_at_once_all_get_their_answer() -> None:
    both_asked = asyncio.Event()
    waiting: list[httpx2.Request] = []

    async def handler(request: httpx2.Request) -> httpx2.Response:
        if "max_tokens" not in json.loads(request.content):
            return answer("openai")
        waiting.append(request)
        if len(waiting) == 2:
            both_asked.set()
        await both_asked.wait()
        return httpx2.Response(400, json={"error": {"message": "Unknown field", "param": "max_tokens"}})

    async def together() -> list[Completion]:
        server = provider("openai", handler)
        return await asyncio.gather(server.complete(ask()), server.complete(ask()))

    assert [completion.text for completion in asyncio.run(together())] == ["Hello.", "Hello."]


def test_a_server_that_declines_the_limit_under_both_names_is_a_bad_request() -> None:
    error = {"message": "max_tokens and max_completion_tokens are too large", "type": "invalid_request_error"}
    with pytest.raises(AdapterError) as raised:
        complete(failure(400, error))
    assert raised.value.kind is ErrorKind.BAD_REQUEST


def test_the_organization_in_the_environment_does_not_go_out_with_another_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-host")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-host")
    headers: list[httpx2.Headers] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        headers.append(request.headers)
        return answer("openai")

    complete(handler)
    assert not {name for name in headers[0] if name.startswith("openai-")}


def test_the_vendors_address_is_used_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.test")
    hosts: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        hosts.append(request.url.host)
        return answer("openai")

    complete(handler, base_url="")
    assert hosts == ["api.openai.com"]
    assert endpoint("openai", base_url="").host == "api.openai.com"
