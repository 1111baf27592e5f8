"""Turns at the database. A worker process holds hundreds of runs, most of them waiting for a model; only a few do
database work at a time, and none keeps a connection while it waits."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, connections


class Turns:
    """So many at a time. Who begins a run goes before who ends one, for its model can think meanwhile; else it is first
    come, first served."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: list[tuple[bool, int, threading.Lock]] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def take(self, *, begins: bool = False) -> None:
        """Wait for a turn."""
        with self._lock:
            if self._free:
                self._free -= 1
                return
            gate = threading.Lock()
            gate.acquire()
            heapq.heappush(self._waiting, (not begins, next(self._numbers), gate))
        gate.acquire()

    def give(self) -> None:
        """End a turn: whoever is next has it at once, without a race."""
        with self._lock:
            if self._waiting:
                heapq.heappop(self._waiting)[2].release()
            else:
                self._free += 1


def _allowed() -> int:
    """SQLite has one writer, and who waits inside of SQLite sleeps and wakes too late: one at a time is fastest."""
    return 1 if connection.vendor == "sqlite" else settings.DATABASE_SLOTS


_turns = Turns(_allowed())


@contextmanager
def database_turn(*, begins: bool = False) -> Iterator[None]:
    """Do database work in a slot's thread. Afterwards its connection is given back, before the thread waits again.
    `begins` is set by what leads to a model's call."""
    _turns.take(begins=begins)
    try:
        yield
    finally:
        try:
            if not connection.in_atomic_block:  # a test's own transaction stays
                connections.close_all()
        finally:
            _turns.give()
