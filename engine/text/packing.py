"""Sharing a prompt's room among its parts.

What must be there is there first. The others each get their share in the order of priority, so that nobody is
crowded out by a long neighbour. What they leave unused goes to those that were cut, first by their shares, and
what even these cannot use by priority.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.text.context import Limits
from engine.text.fitting import Fitting
from engine.text.tokens import MESSAGE_TOKENS

OUTPUT_SHARE = 0.40
"""Of the window, for the answer at most: vendors count both together, and a prompt needs the greater part."""
MARGIN_SHARE, MARGIN_TOKENS = 0.15, 30_000
SEAM = 24
"""Tokens reserved for each part's heading and blank lines, by the most careful count."""


class PromptTooLarge(Exception):
    """What a prompt cannot do without exceeds the model's room. `sizes` in tokens, by section."""

    def __init__(self, sizes: Mapping[str, int], room: int) -> None:
        by_size = sorted(sizes.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{title} {size:,}" for title, size in by_size)
        super().__init__(f"The prompt needs {sum(sizes.values()):,} tokens of {max(room, 0):,}: {listed}.")
        self.sizes = dict(sizes)
        self.room = room


@dataclass(frozen=True, slots=True)
class Part:
    """A part that may be cut or deferred.

    `share` is its portion of what all such parts have together. `fit` renders it for a number of tokens; none
    when even its least form does not fit.
    """

    name: str
    priority: int
    share: float
    fit: Callable[[int], Fitting | None]


def output_room(limits: Limits) -> int:
    """Tokens that the answer may have at most."""
    return min(limits.max_output, int(OUTPUT_SHARE * limits.window))


def user_room(limits: Limits, system_tokens: int) -> int:
    """Tokens that the user message may have at most: the window less system message, output and margin."""
    margin = min(int(MARGIN_SHARE * limits.window), MARGIN_TOKENS)
    return limits.window - system_tokens - output_room(limits) - margin - 2 * MESSAGE_TOKENS


def pack(parts: Sequence[Part], room: int) -> dict[str, Fitting]:
    """Each part as far as it fits into `room` tokens together with the others; a part that is missing is deferred."""
    by_priority = sorted(parts, key=lambda part: -part.priority)
    total = room - SEAM * len(parts)
    left = total
    packed: dict[str, Fitting] = {}
    for part in by_priority:
        if fitting := _fit_share(part, int(part.share * total), left):
            packed[part.name] = fitting
            left -= fitting.size
    left = _widen(by_priority, packed, left, in_proportion=True)
    _widen(by_priority, packed, left, in_proportion=False)
    return packed


def _fit_share(part: Part, share: int, left: int) -> Fitting | None:
    """The part in its share, or in the first doubling of it that holds its least form."""
    allowance = max(share, 1)
    while allowance < left:
        if fitting := part.fit(allowance):
            return fitting
        allowance *= 2
    return part.fit(left) if left > 0 else None


def _widen(by_priority: Sequence[Part], packed: dict[str, Fitting], left: int, *, in_proportion: bool) -> int:
    """Give what is left to parts that were cut, by their shares or to the first that can use it; what remains."""
    cut = [part for part in by_priority if part.name in packed and not packed[part.name].is_whole]
    shares = sum(part.share for part in cut)
    spare = left
    for part in cut:
        present = packed[part.name]
        extra = int(spare * part.share / shares) if in_proportion else left
        if wider := part.fit(present.size + extra):
            packed[part.name] = wider
            left -= wider.size - present.size
    return left
