"""Doing things at the same time: each in a thread with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection, connections

T = TypeVar("T")

PATIENCE = 60
"""Seconds until threads that wait for each other are given up."""


def at_once(steps: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """What each step answered or raised, in their order. All begin when the last of them is ready."""
    start = threading.Barrier(len(steps))

    def run(step: Callable[[], T]) -> T | Exception:
        try:
            connection.ensure_connection()  # which takes longer than what is to meet
            start.wait(PATIENCE)
            return step()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(steps)) as pool:
        return list(pool.map(run, steps, timeout=PATIENCE))
