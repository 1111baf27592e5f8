"""What is known of models."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from anthropic._data import DEPRECATED_MODELS
from django.core.checks.registry import registry
from pytest_django.fixtures import Settings

from agents.adapters.base import Endpoint, Usage
from agents.adapters.thinking import BUDGET_THINKING, COMMON_EFFORTS, NO_THINKING, ThinkingLevel
from agents.apps import check_own_models
from agents.catalogue import ModelEntry, OwnEntry, Price, look_up
from agents.own_models import FILE, entry_for, own_models, read_own_entries
from engine.routing import DEFAULT_MODELS

NOW = datetime(2026, 11, 30, tzinfo=UTC)
OPENAI, ANTHROPIC = Endpoint("openai"), Endpoint("anthropic")
AT_HOME = Endpoint("openai", "http://127.0.0.1:11434/v1")


def entry(model: str, endpoint: Endpoint = OPENAI) -> ModelEntry:
    return look_up(endpoint, model, when=NOW)


def test_a_listed_model_has_its_window_and_price() -> None:
    known = entry("claude-sonnet-4-5-20250929", ANTHROPIC)
    assert known.context_window == 200_000
    assert known.max_output_tokens == 64_000
    assert known.price(1_000) == Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-4-5", 1_024),
        ("claude-haiku-4-5", 4_096),
        ("claude-opus-4-6", 4_096),
        ("claude-3-5-haiku", 2_048),
    ],
)
def test_a_beginning_too_short_to_be_kept_is_known(model: str, tokens: int) -> None:
    assert entry(model, ANTHROPIC).cache_minimum == tokens
    assert entry(model).cache_minimum == 0  # Chat Completions cache by themselves


def test_a_long_prompt_is_priced_at_its_own_step() -> None:
    known = entry("claude-sonnet-4-5", ANTHROPIC)
    assert known.cost(Usage(input_tokens=200_000)) == Decimal("0.6")
    assert known.cost(Usage(input_tokens=200_001)) == Decimal("1.200006")


def test_cached_written_and_fresh_input_each_cost_their_own() -> None:
    price = Price(Decimal(10), Decimal(100), Decimal(1), Decimal(20))
    usage = Usage(1_000_000, cached_input_tokens=500_000, cache_write_tokens=100_000, output_tokens=10_000)
    assert price.cost(usage) == Decimal("7.5")  # 4 fresh, 0.5 cached, 2 written, 1 produced


def test_a_model_of_which_nothing_is_known_has_a_window_and_no_price() -> None:
    unknown = entry("nonsense-1")
    assert (unknown.context_window, unknown.max_output_tokens) == (128_000, 4_096)
    assert unknown.cost(Usage(input_tokens=10)) is None


def test_a_server_at_home_has_no_price_even_for_a_vendors_name() -> None:
    assert entry("gpt-4o", AT_HOME).prices == ()


def test_a_gateway_has_its_own_prices() -> None:
    assert entry("anthropic/claude-sonnet-4.5", Endpoint("openai", "https://openrouter.ai/api/v1")).prices


def test_a_script_costs_nothing() -> None:
    free = look_up(Endpoint("scripted"), "scripted", when=NOW)
    assert free.cost(Usage(10, output_tokens=10)) == 0


def test_the_longest_answer_never_exceeds_the_window() -> None:
    own = (OwnEntry("gpt-4o", context_window=8_000),)
    assert look_up(OPENAI, "gpt-4o", when=NOW, own=own).max_output_tokens == 8_000


TO_HIGH, TO_XHIGH = ThinkingLevel.HIGH, ThinkingLevel.XHIGH


@pytest.mark.parametrize(
    ("model", "output", "highest"),
    [
        ("claude-opus-5-5", 128_000, TO_XHIGH),
        ("claude-haiku-9", 128_000, TO_XHIGH),
        ("claude-opus-4-7", 128_000, TO_XHIGH),
        ("claude-sonnet-4-6", 128_000, TO_HIGH),
        ("gpt-6.1-sol", 128_000, TO_XHIGH),
        ("gpt-5.1", 128_000, TO_HIGH),
        ("gpt-5-mini", 128_000, TO_HIGH),
        ("o3-mini", 100_000, TO_HIGH),
        ("openai/gpt-5.2", 128_000, TO_XHIGH),
    ],
)
def test_a_model_that_weighs_its_thinking_is_asked_by_effort(model: str, output: int, highest: ThinkingLevel) -> None:
    known = entry(model)
    assert known.max_output_tokens == output
    assert known.thinking.effort(ThinkingLevel.XHIGH) is highest
    assert not known.thinking.takes_budget


@pytest.mark.parametrize(
    ("model", "output"),
    [
        ("claude-opus-4-20250514", 32_000),
        ("claude-opus-4-1", 32_000),
        ("claude-sonnet-4-0", 64_000),
        ("claude-sonnet-4.5", 64_000),
        ("claude-haiku-4-5-20251001", 64_000),
        ("claude-3-7-sonnet-latest", 64_000),
    ],
)
def test_an_older_thinking_model_is_given_a_budget(model: str, output: int) -> None:
    known = entry(model, ANTHROPIC)
    assert known.max_output_tokens == output
    assert known.thinking == BUDGET_THINKING


def test_a_budget_is_asked_for_as_an_effort_where_there_is_no_field_for_it() -> None:
    assert entry("anthropic/claude-sonnet-4.5").thinking == COMMON_EFFORTS


@pytest.mark.parametrize(
    ("model", "output"),
    [
        ("claude-3-5-sonnet", 8_192),
        ("claude-3-haiku-20240307", 4_096),
        ("gpt-4o-mini", 16_384),
        ("gpt-4.1", 32_768),
        ("gpt-5-chat-latest", 16_384),
        ("gpt-3.5-turbo", 4_096),
    ],
)
def test_a_model_that_does_not_think_is_not_asked_to(model: str, output: int) -> None:
    known = entry(model)
    assert known.max_output_tokens == output
    assert known.thinking == NO_THINKING


def test_the_operators_entry_stands_above_what_is_known() -> None:
    own = read_own_entries(
        """
        llama3.1:8b:
          context_window: 8192
          max_output_tokens: 1024
          thinking: none
          price: {input: 0.1, output: 0.4, cached_input: 0}
        other: {}
        """
    )
    known = look_up(AT_HOME, "llama3.1:8b", when=NOW, own=own)
    price = Price(Decimal("0.1"), Decimal("0.4"), Decimal(0), Decimal("0.1"))
    assert known == ModelEntry("llama3.1:8b", 8_192, 1_024, NO_THINKING, (price,))


def test_the_operators_entry_changes_only_what_it_names() -> None:
    own = (OwnEntry("gpt-4o", max_output_tokens=500),)
    known = look_up(OPENAI, "gpt-4o", when=NOW, own=own)
    assert known.max_output_tokens == 500
    assert known.prices == entry("gpt-4o").prices
    assert look_up(OPENAI, "gpt-4o-mini", when=NOW, own=own).max_output_tokens == 16_384


def test_no_entries_are_fine() -> None:
    assert read_own_entries("") == ()


@pytest.mark.parametrize(
    "text",
    [
        "- a list",
        "{",
        "m: 5",
        "m: {window: 5}",
        "m: {context_window: -1}",
        "m: {context_window: wide}",
        "m: {thinking: hard}",
        "m: {price: 5}",
        "m: {price: {input: 1}}",
        "m: {price: {input: 1, output: x}}",
        "m: {price: {input: 1, output: -1}}",
        "m: {price: {input: 1, output: .inf}}",
        "m: {price: {input: 1, output: 1, tax: 1}}",
    ],
)
def test_entries_that_cannot_be_read_are_said_so(text: str) -> None:
    with pytest.raises(ValueError):
        read_own_entries(text)


@pytest.fixture
def file(tmp_path: Path, settings: Settings) -> Path:
    """Where the operator writes."""
    settings.DATA_DIR = tmp_path
    return tmp_path / FILE


def test_the_operators_file_counts_as_soon_as_it_is_there_and_no_longer(file: Path) -> None:
    assert entry_for(AT_HOME, "llama").context_window == 128_000
    file.write_text("llama: {context_window: 8192}")
    assert entry_for(AT_HOME, "llama").context_window == 8_192
    file.write_text("llama: {context_window: 16384}")
    assert entry_for(AT_HOME, "llama").context_window == 16_384
    file.unlink()
    assert entry_for(AT_HOME, "llama").context_window == 128_000


def test_a_file_that_breaks_is_told_and_what_it_said_before_still_holds(file: Path) -> None:
    file.write_text("llama: {context_window: 8192}")
    assert entry_for(AT_HOME, "llama").context_window == 8_192
    assert check_own_models() == []
    file.write_text("llama: {context_window: wide}")
    assert entry_for(AT_HOME, "llama").context_window == 8_192
    assert "llama cannot be read" in own_models().problem
    assert [warning.msg for warning in check_own_models()] == [own_models().problem]
    assert check_own_models in registry.registered_checks


def test_an_own_entry_keeps_what_is_known_of_caching() -> None:
    own = (OwnEntry("claude-opus-4-6", max_output_tokens=500),)
    assert look_up(ANTHROPIC, "claude-opus-4-6", when=NOW, own=own).cache_minimum == 4_096


@pytest.mark.parametrize("provider", sorted(DEFAULT_MODELS))
def test_the_models_taken_where_nobody_chose_are_known_and_not_at_their_end(provider: str) -> None:
    model = DEFAULT_MODELS[provider]
    assert entry(model, Endpoint(provider)).prices
    assert model not in DEPRECATED_MODELS
