"""No test file leaves a connection to the database open. Who wants the database alone, as a restore does, would wait
for it in vain: in another file, and only where both run in one process in that order."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Executor
from pathlib import Path

from django.db import connection, connections

PATIENCE = 30.0
"""Seconds, on a busy machine. The thread of leases closes its own within one of the last lease's end."""

_OPEN_FILES = Path("/proc/self/fd")


def check_none_left_open() -> None:
    """Close this thread's connection to the test database and the pool's; AssertionError if others stay open."""
    if connection.settings_dict["NAME"] != connection.creation._get_test_db_name():  # no test has needed it yet
        return
    if _has_event_loop():  # a browser's: such tests ask servers of their own, and Django refuses to connect here
        return
    connection.close()
    if getattr(connection, "pool", None):  # PostgreSQL's, which keeps one open
        connection.close_pool()
    deadline = time.monotonic() + PATIENCE
    while count := _count():
        assert time.monotonic() < deadline, f"{count} connections to the test database were left open"
        time.sleep(0.05)


def close_in_threads(executor: Executor, threads: int) -> None:
    """Close the connections of all `threads` that the executor may have."""
    every = threading.Barrier(threads)

    def close() -> None:
        connections.close_all()
        every.wait(PATIENCE)  # so that each does it once

    for closed in [executor.submit(close) for _ in range(threads)]:
        closed.result()


def _has_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _count() -> int:
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return sum(_target(link) == str(name) for link in _OPEN_FILES.glob("*"))
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = %s", [name])
        return int(cursor.fetchone()[0])


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:  # closed meanwhile, as the one that lists them is
        return ""
