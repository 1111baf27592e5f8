"""What is known of a model before it is asked: its window, its longest answer, its price, how it thinks.

Windows and prices come from the snapshot inside genai-prices, which needs no network; longest answers and
ways to think, which it does not hold, from a table of families here; and the operator's own entries stand
above both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from agents.adapters.base import Endpoint, Usage
from agents.adapters.thinking import (
    BUDGET_THINKING,
    COMMON_EFFORTS,
    NO_THINKING,
    ThinkingLevel,
    ThinkingStyle,
)

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

# What a model of which nothing is known is taken to have.
UNKNOWN_WINDOW = 128_000
UNKNOWN_OUTPUT = 4_096

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens, for calls that read more than `above` tokens."""

    input: Decimal
    output: Decimal
    cached_input: Decimal
    cache_write: Decimal
    above: int = 0

    def cost(self, usage: Usage) -> Decimal:
        """US dollars."""
        fresh = usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens
        dear = (
            fresh * self.input
            + usage.cached_input_tokens * self.cached_input
            + usage.cache_write_tokens * self.cache_write
            + usage.output_tokens * self.output
        )
        return dear / _MILLION


FREE = Price(Decimal(0), Decimal(0), Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """What is known of one model. `context_window` and `max_output_tokens` are in tokens.

    `prices` go up by the length of the prompt, the whole of which costs what its step costs; none means that
    the price is unknown, which is not the same as free. `cache_minimum` is the shortest beginning of a prompt, in
    tokens, that is kept where a request marks it; 0 where caching needs no mark.
    """

    model: str
    context_window: int = UNKNOWN_WINDOW
    max_output_tokens: int = UNKNOWN_OUTPUT
    thinking: ThinkingStyle = COMMON_EFFORTS
    prices: tuple[Price, ...] = ()
    cache_minimum: int = 0

    def price(self, input_tokens: int) -> Price | None:
        """The price of a call that reads so many tokens, None if unknown."""
        reached = [price for price in self.prices if input_tokens > price.above or not price.above]
        return reached[-1] if reached else None

    def cost(self, usage: Usage) -> Decimal | None:
        """What one call costs in US dollars, None if unknown. Calls are priced one by one, not in sum."""
        price = self.price(usage.input_tokens)
        return price.cost(usage) if price else None


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """What the operator says of a model; None leaves a figure as it is known."""

    model: str
    context_window: int | None = None
    max_output_tokens: int | None = None
    thinking: ThinkingStyle | None = None
    price: Price | None = None


def look_up(endpoint: Endpoint, model: str, *, when: datetime, own: Sequence[OwnEntry] = ()) -> ModelEntry:
    """What is known of a model at an endpoint at a moment (some prices change by date or hour)."""
    if endpoint.provider == "scripted":
        return ModelEntry(model, thinking=NO_THINKING, prices=(FREE,))
    entry = _known(endpoint, model, when)
    for theirs in own:
        if theirs.model == model:
            entry = _with(entry, theirs)
    return replace(entry, max_output_tokens=min(entry.max_output_tokens, entry.context_window))


def _known(endpoint: Endpoint, model: str, when: datetime) -> ModelEntry:
    max_output_tokens, thinking = _family(model)
    if thinking.takes_budget and endpoint.provider == "openai":
        thinking = COMMON_EFFORTS  # Chat Completions has no field for a budget; gateways translate efforts
    cache_minimum = _cache_minimum(model) if endpoint.provider == "anthropic" else 0
    entry = ModelEntry(model, max_output_tokens=max_output_tokens, thinking=thinking, cache_minimum=cache_minimum)
    info = _listed(endpoint.url, model)
    if info is None:
        return entry
    window = info.context_window or UNKNOWN_WINDOW
    return replace(entry, context_window=window, prices=_prices(info.get_prices(when)))


def _with(entry: ModelEntry, own: OwnEntry) -> ModelEntry:
    return replace(
        entry,
        context_window=own.context_window or entry.context_window,
        max_output_tokens=own.max_output_tokens or entry.max_output_tokens,
        thinking=own.thinking or entry.thinking,
        prices=(own.price,) if own.price else entry.prices,
    )


def _listed(url: str, model: str) -> ModelInfo | None:
    """The package's entry. Found by the address, as a server at home may give any name to anything."""
    from genai_prices.data_snapshot import get_snapshot  # large, and wanted only where prices are

    try:
        _, info = get_snapshot().find_provider_model(model, None, None, url)
    except LookupError:
        return None
    return info


def _prices(listed: ModelPrice) -> tuple[Price, ...]:
    """The prices by the length of the prompt. A cache without a price of its own costs like other input."""
    figures = {name: _steps(getattr(listed, name)) for name in ("input_mtok", "output_mtok")}
    figures["cache_read_mtok"] = _steps(listed.cache_read_mtok) or figures["input_mtok"]
    figures["cache_write_mtok"] = _steps(listed.cache_write_mtok) or figures["input_mtok"]
    starts = sorted({0, *(start for steps in figures.values() for start in steps)})
    return tuple(
        Price(
            input=_at(figures["input_mtok"], start),
            output=_at(figures["output_mtok"], start),
            cached_input=_at(figures["cache_read_mtok"], start),
            cache_write=_at(figures["cache_write_mtok"], start),
            above=start,
        )
        for start in starts
    )


def _steps(price: object) -> dict[int, Decimal]:
    """A price by the number of tokens above which it counts; nothing for one that is not listed."""
    from genai_prices.types import TieredPrices

    if price is None:
        return {}
    if isinstance(price, TieredPrices):
        return {0: price.base, **{tier.start: tier.price for tier in price.tiers}}
    return {0: Decimal(str(price))}


def _at(steps: Mapping[int, Decimal], start: int) -> Decimal:
    reached = [step for step in steps if step <= start]
    return steps[max(reached)] if reached else Decimal(0)


def _efforts(lowest: ThinkingLevel, highest: ThinkingLevel) -> ThinkingStyle:
    levels = list(ThinkingLevel)
    return ThinkingStyle(efforts=tuple(levels[levels.index(lowest) : levels.index(highest) + 1]))


_TO_HIGH = _efforts(ThinkingLevel.LOW, ThinkingLevel.HIGH)
_TO_XHIGH = _efforts(ThinkingLevel.LOW, ThinkingLevel.XHIGH)

# Longest answers in tokens and ways to think, from the vendors' pages on models, thinking and effort (Nov.
# 2026). The first that fits counts; a model newer than the table is taken to be like the newest of its line.
_FAMILIES: tuple[tuple[str, int, ThinkingStyle], ...] = (
    (r"claude-(?:instant|v1|2)", 4_096, NO_THINKING),
    (r"claude-3[-.]7", 64_000, BUDGET_THINKING),
    (r"claude-3[-.]5", 8_192, NO_THINKING),
    (r"claude-3", 4_096, NO_THINKING),
    (r"claude-opus-4(?:[-.][01](?!\d)|-20\d{6}|$)", 32_000, BUDGET_THINKING),
    (r"claude-sonnet-4(?:[-.]0(?!\d)|-20\d{6}|$)", 64_000, BUDGET_THINKING),
    (r"claude-(?:opus|sonnet|haiku)-4[-.]5", 64_000, BUDGET_THINKING),
    (r"claude-(?:opus|sonnet)-4[-.]6", 128_000, _TO_HIGH),
    (r"claude-", 128_000, _TO_XHIGH),
    (r"gpt-3\.5|gpt-4(?:-|$)", 4_096, NO_THINKING),
    (r"gpt-4\.1", 32_768, NO_THINKING),
    (r"(?:chatgpt|gpt)-4o|gpt-4\.5|gpt-5[.\d]*-chat|gpt-chat", 16_384, NO_THINKING),
    (r"o[134](?:-|$)", 100_000, _TO_HIGH),
    (r"gpt-5-pro", 272_000, _efforts(ThinkingLevel.HIGH, ThinkingLevel.HIGH)),
    (r"gpt-5(?!\.)", 128_000, _efforts(ThinkingLevel.MINIMAL, ThinkingLevel.HIGH)),
    (r"gpt-5\.1", 128_000, _TO_HIGH),
    (r"gpt-[5-9]", 128_000, _TO_XHIGH),
)


def _family(model: str) -> tuple[int, ThinkingStyle]:
    """The longest answer and the way to think. A vendor may stand before the name: `openai/gpt-6-sol`."""
    for pattern, max_output_tokens, thinking in _FAMILIES:
        if re.search(rf"(?:^|[/.~]){pattern}", model.lower()):
            return max_output_tokens, thinking
    return UNKNOWN_OUTPUT, COMMON_EFFORTS


# Tokens, as the vendor publishes them for models up to 4.6. A mark that is too early costs nothing, one that is
# missing does: so whatever is not listed gets the lowest.
_CACHE_MINIMUMS = (
    (r"claude-(?:opus|haiku)-4[-.][5-9]", 4_096),
    (r"claude-3(?:[-.]5)?-haiku|claude-haiku-3", 2_048),
)
_LOWEST_CACHE_MINIMUM = 1_024


def _cache_minimum(model: str) -> int:
    for pattern, tokens in _CACHE_MINIMUMS:
        if re.search(rf"(?:^|[/.~]){pattern}", model.lower()):
            return tokens
    return _LOWEST_CACHE_MINIMUM
