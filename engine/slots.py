"""Turns at the database. A worker process holds hundreds of runs, most of them waiting for a model; only a few do
database work at a time, and none keeps a connection while it waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, connections

_turns = threading.BoundedSemaphore(settings.DATABASE_SLOTS)


@contextmanager
def database_turn() -> Iterator[None]:
    """Do database work in a slot's thread. Afterwards its connection is given back, before the thread waits again."""
    with _turns:
        try:
            yield
        finally:
            if not connection.in_atomic_block:  # a test's own transaction stays
                connections.close_all()
