"""Turns at the database. A worker process holds hundreds of runs, most of them waiting for a model; only a few do
database work at a time, and none keeps a connection while it waits."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, connections


class Turns:
    """So many at a time. Who begins a run goes before who ends one, for its model can think meanwhile: while runs
    begin, only one at a time ends. Else it is first come, first served."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._under_way = {True: 0, False: 0}
        self._waiting: dict[bool, deque[threading.Lock]] = {True: deque(), False: deque()}
        self._lock = threading.Lock()

    def take(self, *, begins: bool = False) -> None:
        """Wait for a turn."""
        gate = threading.Lock()
        gate.acquire()
        with self._lock:
            self._waiting[begins].append(gate)
            self._admit()
        gate.acquire()

    def give(self, *, begins: bool = False) -> None:
        """End a turn: whoever is next has it at once, without a race."""
        with self._lock:
            self._free += 1
            self._under_way[begins] -= 1
            self._admit()

    def _admit(self) -> None:
        """Let in whoever may go now."""
        while self._free and (self._waiting[True] or (self._waiting[False] and self._may_end())):
            begins = bool(self._waiting[True])
            self._free -= 1
            self._under_way[begins] += 1
            self._waiting[begins].popleft().release()

    def _may_end(self) -> bool:
        return not self._under_way[True] or not self._under_way[False]


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
            _turns.give(begins=begins)
