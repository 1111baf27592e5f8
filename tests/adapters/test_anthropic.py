"""Messages through the real SDK."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from agents.adapters.base import AdapterError, Completion, ErrorKind, Message, Role, StopReason, Usage
from agents.adapters.thinking import BUDGET_THINKING, ThinkingLevel, ThinkingStyle
from tests.adapters.wire import Handler, answer, ask, block, event, provider, started, stopped, stream, words


def complete(handler: Handler, **changes: Any) -> Completion:
    return asyncio.run(provider("anthropic", handler).complete(ask(**changes)))


def sent(**changes: Any) -> dict[str, Any]:
    """The body that a request goes out with."""
    bodies: list[dict[str, Any]] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return answer("anthropic")

    complete(handler, **changes)
    return bodies[0]


def test_the_pieces_of_an_answer_become_one_completion() -> None:
    completion = complete(
        lambda request: stream(started(), block(), words("Hel"), words("lo."), stopped(), request_id="req-7")
    )
    assert completion.text == "Hello."
    assert completion.model == "answering-model"
    assert completion.stop_reason is StopReason.END
    assert completion.provider_request_id == "req-7"
    assert completion.usage == Usage(input_tokens=7, output_tokens=3)


def test_input_from_and_into_a_cache_counts_as_input() -> None:
    completion = complete(
        lambda request: stream(
            started(input_tokens=10, cache_read_input_tokens=60, cache_creation_input_tokens=30),
            block(),
            words("x"),
            stopped(output_tokens=50, output_tokens_details={"thinking_tokens": 40}),  # type: ignore[arg-type]
        )
    )
    assert completion.usage == Usage(100, 60, 30, 50, 40)


def test_counts_at_the_end_replace_those_at_the_start() -> None:
    end = stopped(input_tokens=9, cache_read_input_tokens=1, output_tokens=4)
    completion = complete(lambda request: stream(started(), block(), words("x"), end))
    assert completion.usage == Usage(input_tokens=10, cached_input_tokens=1, output_tokens=4)


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("refusal", StopReason.REFUSED),
        ("pause_turn", StopReason.OTHER),
    ],
)
def test_each_stop_reason_has_ours(finish: str, reason: StopReason) -> None:
    assert complete(lambda request: answer("anthropic", finish=finish)).stop_reason is reason


def test_an_answer_that_fills_the_window_is_context_too_long_and_says_what_it_cost() -> None:
    with pytest.raises(AdapterError) as raised:
        complete(lambda request: answer("anthropic", finish="model_context_window_exceeded"))
    assert raised.value.kind is ErrorKind.CONTEXT_TOO_LONG
    assert raised.value.usage == Usage(input_tokens=7, output_tokens=3)


def test_thinking_is_no_part_of_the_answer_and_parts_the_texts_around_it() -> None:
    thought = event(
        {"type": "content_block_delta", "index": 1, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        "content_block_delta",
    )
    completion = complete(
        lambda request: stream(
            started(),
            block(),
            words("Looking."),
            block("thinking", thinking="", signature=""),
            thought,
            block(),
            words("/status done"),
            stopped(),
        )
    )
    assert completion.text == "Looking.\n\n/status done"


def test_what_an_answer_cost_is_known_even_when_it_breaks_off() -> None:
    with pytest.raises(AdapterError) as raised:
        complete(lambda request: stream(started(input_tokens=1000), block(), words("Hel")))
    assert raised.value.kind is ErrorKind.NETWORK
    assert raised.value.usage.input_tokens == 1000


def test_the_key_goes_out_as_a_bearer_and_the_limit_as_max_tokens() -> None:
    requests: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return answer("anthropic")

    complete(handler)
    assert requests[0].headers["authorization"].startswith("Bearer sk-test")
    assert json.loads(requests[0].content)["max_tokens"] == 100


def test_no_thinking_field_is_sent_when_thinking_is_off() -> None:
    assert not {"thinking", "output_config"} & sent(thinking_style=BUDGET_THINKING).keys()


@pytest.mark.parametrize(
    ("level", "budget", "limit"),
    [
        (ThinkingLevel.MINIMAL, 1_024, 1_124),
        (ThinkingLevel.LOW, 2_048, 2_148),
        (ThinkingLevel.MEDIUM, 8_192, 8_292),
        (ThinkingLevel.HIGH, 16_384, 16_484),
        (ThinkingLevel.XHIGH, 16_384, 16_484),
    ],
)
def test_a_budget_to_think_leaves_room_for_the_answer(level: ThinkingLevel, budget: int, limit: int) -> None:
    body = sent(thinking=level, thinking_style=BUDGET_THINKING)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert body["max_tokens"] == limit


def test_a_limit_that_holds_the_budget_and_an_answer_stays_as_it_is() -> None:
    asked = {"thinking": ThinkingLevel.HIGH, "thinking_style": BUDGET_THINKING, "max_output_tokens": 64_000}
    assert sent(**asked)["max_tokens"] == 64_000


@pytest.mark.parametrize("level", [ThinkingLevel.LOW, ThinkingLevel.MEDIUM, ThinkingLevel.HIGH, ThinkingLevel.XHIGH])
def test_an_effort_is_sent_with_adaptive_thinking(level: ThinkingLevel) -> None:
    style = ThinkingStyle(efforts=(level,))
    body = sent(thinking=level, thinking_style=style)
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {"effort": level.value}


def test_text_up_to_a_breakpoint_is_marked_for_caching_and_stays_whole() -> None:
    user = Message(Role.USER, "Skills.\n\nHistory.", breakpoints=(9,))
    body = sent(system="Contract. Role.", system_breakpoints=(10, 15), messages=(user,))
    assert [(part["text"], "cache_control" in part) for part in body["system"]] == [
        ("Contract. ", True),
        ("Role.", True),
    ]
    assert [(part["text"], "cache_control" in part) for part in body["messages"][0]["content"]] == [
        ("Skills.\n\n", True),
        ("History.", False),
    ]


def test_at_most_four_breakpoints_are_marked_and_no_piece_is_blank() -> None:
    user = Message(Role.USER, "a b c d e f", breakpoints=(0, 1, 2, 4, 6, 8, 10))
    pieces = sent(messages=(user,))["messages"][0]["content"]
    assert "".join(piece["text"] for piece in pieces) == "a b c d e f"
    assert all(piece["text"].strip() for piece in pieces)
    assert sum("cache_control" in piece for piece in pieces) == 4
