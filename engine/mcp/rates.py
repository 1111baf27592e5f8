"""How often a key may call: an agent that goes in circles is slowed down before it slows down anybody else."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

CALLS_AT_ONCE = 60
CALLS_PER_SECOND = 5.0
"""A model needs seconds between two calls; a program that reads a board through takes a minute for 300."""

MOST_KEPT = 10_000


@dataclass(slots=True)
class _Allowance:
    """What is left of a key's calls, as of a moment."""

    left: float
    at: float


class Rates:
    """Counts calls by whoever makes them, in this process. `CALLS_AT_ONCE` are free, and as many come back a second as
    `CALLS_PER_SECOND` says."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, _Allowance] = {}

    def take(self, who: str) -> float:
        """Take one call; 0, or the seconds to wait if there is none left."""
        now = self._clock()
        if len(self._kept) >= MOST_KEPT:
            self._forget(now)
        allowance = self._kept.setdefault(who, _Allowance(CALLS_AT_ONCE, now))
        allowance.left = min(CALLS_AT_ONCE, allowance.left + (now - allowance.at) * CALLS_PER_SECOND)
        allowance.at = now
        if allowance.left < 1:
            return (1 - allowance.left) / CALLS_PER_SECOND
        allowance.left -= 1
        return 0.0

    def _forget(self, now: float) -> None:
        """Leave out those who have all of their calls again."""
        whole = CALLS_AT_ONCE / CALLS_PER_SECOND
        self._kept = {who: one for who, one in self._kept.items() if now - one.at < whole}
