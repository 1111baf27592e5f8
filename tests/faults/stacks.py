"""Databases and brokers, with processes that are begun and killed one by one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests import machine
from tests.faults.work import LEFT_BEHIND, NOTHING, STORY
from tests.servers import ROOT, wait_until

LONG = os.environ.get("TRIMUS_FAULTS") == "long"

LEASE_SECONDS = 3

PATIENCE_SECONDS = 900.0 if LONG else 240.0
"""For what takes seconds on a quiet machine."""

RING_AGAIN_SECONDS = 10.0

STACKS = [
    pytest.param(("embedded://localhost", "sqlite"), id="sqlite-embedded"),
    pytest.param((machine.REDIS_URL, "postgres"), id="postgres-redis", marks=[pytest.mark.postgres, pytest.mark.redis]),
    pytest.param(
        (machine.RABBITMQ_URL, "postgres"), id="postgres-rabbitmq", marks=[pytest.mark.postgres, pytest.mark.rabbitmq]
    ),
]
DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]

DELETE = """
import os
from trimus.celery import app
name = app.conf.task_default_queue = os.environ["TRIMUS_TEST_QUEUE"]
with app.connection() as connection:
    queue = app.amqp.queues[name](connection.default_channel)
    queue.declare()  # else Redis knows of no binding, and keeps it
    queue.delete()
"""
"""What takes a stack's queue away."""


@dataclass
class Stack:
    """A database and a broker, with processes by the names of `children.CALLS`."""

    folder: Path
    broker_url: str
    database_url: str
    environment: dict[str, str] = field(default_factory=dict)
    queue: str = field(default_factory=lambda: f"trimus-test-{uuid.uuid4().hex}")
    codes: dict[int, int | None] = field(default_factory=dict)
    _nursery: subprocess.Popen[str] | None = None
    _made: list[int] = field(default_factory=list)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def full_environment(self) -> dict[str, str]:
        own = {
            "DJANGO_SETTINGS_MODULE": "trimus.settings",
            "TRIMUS_DATA_DIR": str(self.data),
            "DATABASE_URL": self.database_url,
            "CELERY_BROKER_URL": self.broker_url,
            "TRIMUS_LEASE_SECONDS": str(LEASE_SECONDS),
            "TRIMUS_TEST_QUEUE": self.queue,
        }
        return os.environ | own | self.environment

    def log(self) -> str:
        return (self.folder / "processes.log").read_text(errors="replace")

    def begin(self, call: str, **fields: Any) -> int:
        """Begin a process; its id."""
        if self._nursery is None:
            self._open_nursery()
        assert self._nursery is not None
        assert self._nursery.stdin is not None
        before = len(self._made)
        self._nursery.stdin.write(json.dumps({"call": call, "fields": fields}) + "\n")
        self._nursery.stdin.flush()
        wait_until(lambda: len(self._made) > before, self.log, PATIENCE_SECONDS)
        return self._made[before]

    def do(self, call: str, **fields: Any) -> None:
        """See a process through that ends by itself."""
        assert self.code_of(self.begin(call, **fields)) == 0, self.log()

    def code_of(self, pid: int) -> int:
        """How the process ended, once it has."""
        wait_until(lambda: self.codes[pid] is not None, self.log, PATIENCE_SECONDS)
        code = self.codes[pid]
        assert code is not None
        return code

    def code_of_doomed(self, pid: int) -> int:
        """How a worker ended that dies over its work. Where no beat rings again, this does: a busy broker may not have
        taken the first bell."""
        again_at = time.monotonic() + RING_AGAIN_SECONDS

        def has_ended() -> bool:
            nonlocal again_at
            if time.monotonic() > again_at:
                self.do("ring")
                again_at = time.monotonic() + RING_AGAIN_SECONDS
            return self.codes[pid] is not None

        wait_until(has_ended, self.log, PATIENCE_SECONDS)
        return self.code_of(pid)

    def kill(self, pid: int, number: int = signal.SIGKILL) -> int:
        """Signal it, and wait for its end."""
        os.kill(pid, number)
        return self.code_of(pid)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        if self.database_url:
            with psycopg.connect(machine.libpq(self.database_url)) as server:
                return server.execute(statement).fetchall()
        with contextlib.closing(sqlite3.connect(self.data / "trimus.sqlite3", timeout=20)) as file:
            return file.execute(statement).fetchall()

    def is_locked(self) -> bool:
        """Whether some process is in the middle of a transaction that writes."""
        if self.database_url:
            mine = "datname = current_database() AND pid <> pg_backend_pid()"
            rows = self.query(f"SELECT count(*) FROM pg_stat_activity WHERE {mine} AND state <> 'idle'")  # noqa: S608
            return rows[0][0] > 0
        with contextlib.closing(sqlite3.connect(self.data / "trimus.sqlite3", timeout=0)) as file:
            try:
                file.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
            return False

    def story_of_the_end(self, story: tuple[Any, ...], issues: int) -> list[tuple[Any, ...]]:
        """What became of the issues, once that is `story` for each and nothing is left behind, or never will be."""

        def ended() -> bool:
            return self.query(STORY) == [story] * issues and self.query(LEFT_BEHIND) == NOTHING

        def told() -> str:
            return f"{self.query(STORY)} {self.query(LEFT_BEHIND)}\n{self.log()}"

        wait_until(ended, told, PATIENCE_SECONDS)
        return self.query(STORY)

    def close(self) -> None:
        """Kill every process, and take the queue away: it outlives its users on a server."""
        if self._nursery is not None:
            assert self._nursery.stdin is not None
            self._nursery.stdin.close()
            self._nursery.wait(PATIENCE_SECONDS)
        subprocess.run(
            [sys.executable, "-c", DELETE], env=self.full_environment(), cwd=ROOT, check=False, capture_output=True
        )

    def _open_nursery(self) -> None:
        with (self.folder / "processes.log").open("ab") as log:
            self._nursery = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.nursery"],
                env=self.full_environment(),
                cwd=ROOT,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._nursery is not None
        assert self._nursery.stdout is not None
        for line in self._nursery.stdout:
            fact = json.loads(line)
            if "code" in fact:
                self.codes[fact["pid"]] = fact["code"]
            elif "pid" in fact:
                self.codes[fact["pid"]] = None
                self._made.append(fact["pid"])
