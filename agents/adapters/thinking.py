"""How much a model is asked to think, and how each model wants to be asked."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ThinkingLevel(enum.StrEnum):
    """What a person chooses. `OFF` sends no field at all: the model does what it does by itself."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"


_ORDER = tuple(ThinkingLevel)

# Tokens to think with. 1,024 is the least that Anthropic accepts.
BUDGETS = {
    ThinkingLevel.MINIMAL: 1_024,
    ThinkingLevel.LOW: 2_048,
    ThinkingLevel.MEDIUM: 8_192,
    ThinkingLevel.HIGH: 16_384,
    ThinkingLevel.XHIGH: 16_384,
}

# What stays for the answer when thinking and answer share one limit.
ANSWER_ROOM = 4_096


@dataclass(frozen=True, slots=True)
class ThinkingStyle:
    """How a model is asked to think: by the efforts it knows, by a budget of tokens, or not at all."""

    efforts: tuple[ThinkingLevel, ...] = ()
    takes_budget: bool = False

    def effort(self, level: ThinkingLevel) -> ThinkingLevel | None:
        """The effort to send for a level: the highest one known that is not above it, else the lowest known.

        None when nothing is to be sent.
        """
        if level is ThinkingLevel.OFF or not self.efforts:
            return None
        ranked = sorted(self.efforts, key=_ORDER.index)
        not_above = [effort for effort in ranked if _ORDER.index(effort) <= _ORDER.index(level)]
        return not_above[-1] if not_above else ranked[0]

    def budget(self, level: ThinkingLevel) -> int | None:
        """The tokens to think with, None when no budget is to be sent."""
        return BUDGETS.get(level) if self.takes_budget else None

    def output_ceiling(self, level: ThinkingLevel, max_output_tokens: int) -> int:
        """The most tokens that one call may produce: the answer's limit, with room for a thinking budget."""
        budget = self.budget(level)
        if budget is None:
            return max_output_tokens
        return max(max_output_tokens, budget + min(max_output_tokens, ANSWER_ROOM))


NO_THINKING = ThinkingStyle()
BUDGET_THINKING = ThinkingStyle(takes_budget=True)
# What every server that takes an effort knows; the other words are each vendor's own.
COMMON_EFFORTS = ThinkingStyle(efforts=(ThinkingLevel.LOW, ThinkingLevel.MEDIUM, ThinkingLevel.HIGH))
