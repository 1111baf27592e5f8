"""How often one key or session may call: a program that goes in circles is slowed down before it slows down anybody
else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

SECONDS_AT_ONCE = 10
"""So many seconds' calls are free at once: a program that reads a board through has done before it waits."""

MOST_KEPT = 10_000

ADMITTED = "trimus.admitted"
"""Marks, in the scope of a call from within this process, one that is a part of another that was let in: it counts, and
is not refused halfway."""


@dataclass(slots=True)
class _Allowance:
    """What is left of somebody's calls, as of a moment. Parts of a call may take it below nothing."""

    left: float
    at: float


class Rates:
    """Counts calls by whoever makes them, in this process: `SECONDS_AT_ONCE` seconds' worth is free, and as many come
    back a second as the setting says. Safe for several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, _Allowance] = {}

    def take(self, who: str, *, per_second: float, must: bool = False) -> float:
        """Take one call; 0, or the seconds to wait if there is none left. One that `must` be is taken in advance."""
        most = max(1.0, per_second * SECONDS_AT_ONCE)
        with self._lock:
            now = self._clock()
            if len(self._kept) >= MOST_KEPT:
                self._forget(now, most, per_second)
            allowance = self._kept.setdefault(who, _Allowance(most, now))
            allowance.left = min(most, allowance.left + (now - allowance.at) * per_second)
            allowance.at = now
            if allowance.left < 1 and not must:
                return (1 - allowance.left) / per_second
            allowance.left -= 1
            return 0.0

    def _forget(self, now: float, most: float, per_second: float) -> None:
        """Leave out those who have all of their calls again."""
        self._kept = {who: one for who, one in self._kept.items() if one.left + (now - one.at) * per_second < most}


rates = Rates()


class CallRate(BaseThrottle):
    """The rate of the API: of each key by itself, and of all sessions of one person together. Who calls without
    either is not counted: that is `health`, and what is refused anyway."""

    wait_seconds = 0.0

    def allow_request(self, request: Request, _view: object) -> bool:
        key, user = _called_by(request)
        if (key is None and user is None) or settings.API_CALLS_PER_SECOND <= 0:
            return True
        must = bool(request.META.get("asgi.scope", {}).get(ADMITTED))
        self.wait_seconds = rates.take(f"key {key} user {user}", per_second=settings.API_CALLS_PER_SECOND, must=must)
        return not self.wait_seconds

    def wait(self) -> float:
        return self.wait_seconds


def count_as(request: Request, *, key: int | None = None, user: int | None = None) -> None:
    """Say whose call this is, by the id of a key or of a session's user. Done by what finds out who calls."""
    vars(request)["_called_by"] = (key, user)


def key_of(request: Request) -> int | None:
    """The id of the key that the call came with."""
    return _called_by(request)[0]


def _called_by(request: Request) -> tuple[int | None, int | None]:
    found: tuple[int | None, int | None] = vars(request).get("_called_by", (None, None))
    return found
