"""Requests, usage and thinking as values."""

from __future__ import annotations

import pytest

from agents.adapters.base import Message, Role, Usage
from agents.adapters.counting import estimate_tokens
from agents.adapters.thinking import BUDGET_THINKING, COMMON_EFFORTS, NO_THINKING, ThinkingLevel, ThinkingStyle
from tests.adapters.wire import ask

USER, ASSISTANT = Message(Role.USER, "a"), Message(Role.ASSISTANT, "b")


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": ()},
        {"messages": (ASSISTANT,)},
        {"messages": (USER, ASSISTANT)},
        {"messages": (USER, USER, USER)},
        {"max_output_tokens": 0},
        {"deadline_seconds": 0.0},
    ],
)
def test_a_request_that_no_provider_takes_cannot_be_made(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        ask(**changes)


def test_usage_adds_up_and_stays_an_estimate_if_any_part_is_one() -> None:
    total = Usage(10, 5, 1, 3, 2) + Usage(1, 1, 1, 1, 1, estimated=True)
    assert total == Usage(11, 6, 2, 4, 3, estimated=True)


@pytest.mark.parametrize(
    ("style", "level", "effort"),
    [
        (COMMON_EFFORTS, ThinkingLevel.OFF, None),
        (COMMON_EFFORTS, ThinkingLevel.MINIMAL, ThinkingLevel.LOW),
        (COMMON_EFFORTS, ThinkingLevel.MEDIUM, ThinkingLevel.MEDIUM),
        (COMMON_EFFORTS, ThinkingLevel.XHIGH, ThinkingLevel.HIGH),
        (ThinkingStyle(efforts=(ThinkingLevel.HIGH,)), ThinkingLevel.LOW, ThinkingLevel.HIGH),
        (NO_THINKING, ThinkingLevel.HIGH, None),
        (BUDGET_THINKING, ThinkingLevel.HIGH, None),
    ],
)
def test_a_level_becomes_the_nearest_effort_that_the_model_knows(
    style: ThinkingStyle, level: ThinkingLevel, effort: ThinkingLevel | None
) -> None:
    assert style.effort(level) is effort


def test_a_call_can_produce_its_limit_unless_a_budget_to_think_needs_more() -> None:
    assert ask().output_ceiling == 100
    assert ask(thinking=ThinkingLevel.LOW, thinking_style=BUDGET_THINKING).output_ceiling == 2_148
    long = ask(thinking=ThinkingLevel.LOW, thinking_style=BUDGET_THINKING, max_output_tokens=5_000)
    assert long.output_ceiling == 6_144


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("", 0, 0), ("a", 1, 1), ("word " * 900, 900, 1100), ("漢字" * 100, 120, 180), ("{}[]" * 100, 200, 300)],
)
def test_an_estimate_is_near_what_tokenizers_count(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most
