"""Ways to bring a part of the prompt down to a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Measure: TypeAlias = Callable[[str], int]
"""Tokens that a text is reckoned at."""

JOINT = 3
"""Tokens that the line breaks between two pieces can add, by the most careful count."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """A part as rendered for an allowance. `size` in tokens; `is_whole`: more room would not change it.

    `names` are those of the items that came whole, where somebody must know.
    """

    text: str
    size: int
    is_whole: bool
    names: tuple[str, ...] = ()


def fit_texts(
    render: Callable[[int], str], *, longest: int, least: int, allowance: int, measure: Measure
) -> Fitting | None:
    """The rendering with the widest limit, in characters a text, that fits `allowance`; none if `least` does not.

    `render(longest)` is the whole. The limit is found by halving, to within a thirtieth: closer is not worth the
    measuring.
    """

    def attempt(limit: int) -> Fitting | None:
        text = render(limit)
        size = measure(text)
        return Fitting(text, size, is_whole=limit == longest) if size <= allowance else None

    if (whole := attempt(longest)) or least >= longest:
        return whole
    best = attempt(least)
    fits, exceeds = least, longest
    while best and exceeds - fits > 1 + fits // 30:
        middle = (fits + exceeds) // 2
        if wider := attempt(middle):
            best, fits = wider, middle
        else:
            exceeds = middle
    return best


def fit_lines(lines: Sequence[str], more: Callable[[int], str], *, allowance: int, measure: Measure) -> Fitting | None:
    """As many of the first lines as fit, and a line by `more` on how many do not; none if not even one does."""
    sizes = [measure(line) + JOINT for line in lines]
    if (total := sum(sizes)) <= allowance:
        return Fitting("\n".join(lines), total, is_whole=True)
    used = measure(more(len(lines))) + JOINT
    kept = 0
    while used + sizes[kept] <= allowance:
        used += sizes[kept]
        kept += 1
    if not kept:
        return None
    return Fitting("\n".join([*lines[:kept], more(len(lines) - kept)]), used, is_whole=False)
