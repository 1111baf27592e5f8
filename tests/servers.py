"""Installations that tests start as people do: one command, a folder and a port of their own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests import machine, templates

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 300.0


def free_port() -> int:
    """A port on loopback that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], bool], what: Callable[[], str], seconds: float = 30.0) -> None:
    """Look again and again; fail with `what` when it does not come true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what()}"
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    """The process's children (Linux)."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be buried does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@dataclass
class Installation:
    """`manage.py up` in a folder of its own. `environment` adds to what it starts with."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database(self) -> Path:
        """The file of its database, where the environment names no other."""
        return self.folder / "data" / "trimus.sqlite3"

    def lay_database(self) -> None:
        """Give it a migrated, empty database before its start, which takes seconds to make one."""
        templates.copy_sqlite(self.database)

    def lay_demo(self) -> None:
        """Give it the demo company before its start."""
        templates.copy_demo(self.folder / "data")

    @property
    def log(self) -> Path:
        return self.folder / "up.log"

    def printed(self) -> str:
        return self.log.read_text(errors="replace")

    def full_environment(self) -> dict[str, str]:
        own = {
            "DJANGO_SETTINGS_MODULE": "trimus.settings",
            "TRIMUS_DATA_DIR": str(self.folder / "data"),
            "TRIMUS_PORT": str(self.port),
        }
        return os.environ | own | self.environment

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run another command of the installation to its end."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            env=self.full_environment(),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def python(self, code: str) -> Any:
        """Run `code` against the installation's database, in a process of its own; the JSON that it prints last."""
        result = subprocess.run(
            [sys.executable, "-c", "import django; django.setup()\n" + textwrap.dedent(code)],
            env=self.full_environment(),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        lines = result.stdout.splitlines()
        return json.loads(lines[-1]) if lines else None

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """What the database answers to SQL; at once, where `python` takes a second."""
        if url := self.environment.get("DATABASE_URL"):
            with psycopg.connect(machine.libpq(url)) as server:
                return server.execute(statement).fetchall()
        with contextlib.closing(sqlite3.connect(self.database, timeout=20)) as file:
            return file.execute(statement).fetchall()

    def start(self, *arguments: str) -> str:
        """Start it and wait until it says that it is ready; the log-in link."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--no-browser", "--lifeline", *arguments],
                env=self.full_environment(),
                cwd=ROOT,
                # A test run that is killed leaves nothing behind.
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        wait_until(self._ready, self.printed, START_SECONDS)
        return self.first_link()

    def first_link(self) -> str:
        """The log-in link that it printed."""
        return re.findall(r"Trimus is ready: (\S+)", self.printed())[0]

    def _ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.printed()
        return "Trimus is ready" in self.printed()

    def parts(self) -> dict[str, int]:
        """The process ids of web, worker and beat."""
        assert self.process is not None
        names = {}
        for pid in children(self.process.pid):
            command = Path(f"/proc/{pid}/cmdline").read_text()
            names.update({name: pid for name in ("web", "worker", "beat") if f"{name}\0--lifeline" in command})
        return names

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Signal it and wait for its end; the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)
