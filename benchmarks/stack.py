"""A database and a broker to measure the engine on: fresh ones, with a worker of their own, gone afterwards."""

from __future__ import annotations

import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis

from benchmarks.installation import ROOT
from tests import machine

START_SECONDS = 60
STOP_SECONDS = 30

REDIS_URL = f"{machine.REDIS_URL.rpartition('/')[0]}/14"
"""A database of the server that nothing else here uses: it is emptied."""


@dataclass(frozen=True)
class Stack:
    """`name` says which: SQLite or PostgreSQL, the embedded broker or Redis."""

    name: str
    folder: Path
    environment: dict[str, str]
    log: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "log", self.folder / "worker.log")

    def run(self, *command: str) -> str:
        """Run a Python command on this stack to its end; what it printed."""
        command = (sys.executable, *command)
        done = subprocess.run(command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout

    def call(self, function: str, *arguments: Any) -> Any:
        """What the function (`package.module:name`) answers in a process of its own on this stack. Arguments and answer
        are plain JSON."""
        printed = self.run("-m", "benchmarks.stack", function, json.dumps(arguments))
        return json.loads(printed.splitlines()[-1])

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """One worker process and a beat, as `manage.py up` starts them; entered once the worker takes messages."""
        with self.log.open("ab") as log:
            commands = (["manage.py", "worker"], ["-m", "trimus.beat"])
            processes = [
                subprocess.Popen([sys.executable, *command], cwd=ROOT, env=self.environment, stdout=log, stderr=log)
                for command in commands
            ]
        try:
            self._wait_until_ready()
            yield processes[0]
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
            for process in processes:
                _end(process)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while " ready. " not in self.log.read_text(errors="replace"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"The worker did not start:\n{self.log.read_text(errors='replace')}")
            time.sleep(0.1)


@contextmanager
def stack(*, postgres: bool, broker: str) -> Iterator[Stack | None]:
    """A fresh, migrated stack; None where the machine has no such database or broker."""
    if (postgres and machine.lack("postgres")) or (broker == "redis" and machine.lack("redis")):
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="trimus-bench-"))
    with _database(postgres=postgres) as database_url:
        made = Stack(
            f"{'PostgreSQL' if postgres else 'SQLite'}, {broker}",
            folder,
            os.environ
            | {
                "DJANGO_SETTINGS_MODULE": "trimus.settings",
                "TRIMUS_DATA_DIR": str(folder),
                "DATABASE_URL": database_url,
                "CELERY_BROKER_URL": REDIS_URL if broker == "redis" else "",
            },
        )
        if broker == "redis":
            redis.Redis.from_url(REDIS_URL).flushdb()
        made.run("manage.py", "migrate", "--verbosity", "0")
        try:
            yield made
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _database(*, postgres: bool) -> Iterator[str]:
    """The address of a fresh database; empty for SQLite, which lies in the data directory."""
    server = machine.postgres_url() if postgres else None
    if server is None:
        yield ""
        return
    name = f"trimus_bench_{uuid.uuid4().hex[:12]}"
    _administrate(server, f'CREATE DATABASE "{name}"')
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        _administrate(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def _administrate(server: str, statement: str) -> None:
    with psycopg.connect(machine.libpq(server), autocommit=True) as connection:
        connection.execute(statement)


def _answer(function: str, arguments: Sequence[Any]) -> None:
    """The other end of `call`."""
    import django

    django.setup()
    print(json.dumps(pkgutil.resolve_name(function)(*arguments)))


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    _answer(sys.argv[1], json.loads(sys.argv[2]))
