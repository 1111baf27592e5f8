"""A worker killed at each stage of the line, on each stack: the work is done exactly once."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from tests import machine
from tests.faults.test_kills import DONE_ONCE, LONG, STORY, administrate
from tests.servers import ROOT, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

STAGES = ("claimed", "prompt built", "waiting", "reply kept", "half applied", "applied")
SHORT = ("waiting", "reply kept", "half applied")
LEASE_SECONDS = 3
PATIENCE_SECONDS = 90.0

SET_UP = """
from tests import build
company, owner = build.company_with_founder()
script = '''
- delay: {seconds}
  reply: |
    Done as asked.

    /record-finding What came out
    ```
    All is well.
    ```
    /status done
'''
for number in range({agents}):
    build.agent(company, f"Ada{{number}}", provider="scripted", script=script)
"""
ASSIGN = """
from agents.models import Agent
from issues.models import Company
from tests import build
build.issue(Company.objects.get(), assignee=Agent.objects.get(name="Ada{number}"))
"""
LEFT_OVER = """
SELECT (SELECT count(*) FROM agents_run WHERE state IN ('queued', 'running')),
    (SELECT count(*) FROM agents_wakeup WHERE state IN ('pending', 'claimed'))
"""


@dataclass
class Stack:
    """A database and a broker, with workers that are started one by one."""

    folder: Path
    broker_url: str
    database_url: str
    stages: tuple[str, ...]
    queue: str = field(default_factory=lambda: f"trimus-test-{uuid.uuid4().hex}")
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "DJANGO_SETTINGS_MODULE": "trimus.settings",
            "TRIMUS_DATA_DIR": str(self.folder / "data"),
            "DATABASE_URL": self.database_url,
            "CELERY_BROKER_URL": self.broker_url,
            "TRIMUS_LEASE_SECONDS": str(LEASE_SECONDS),
            "TRIMUS_TEST_QUEUE": self.queue,
        }

    def log(self) -> str:
        return (self.folder / "processes.log").read_text(errors="replace")

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / "processes.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *command], env=self.environment, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
            )
        self.processes.append(process)
        return process

    def python(self, code: str) -> None:
        """Run the code to its end, on the queue of this stack."""
        setup = "import django; django.setup()\nfrom tests.faults.dying import celery_app; celery_app()\n"
        process = self.start("-c", setup + code)
        assert process.wait(PATIENCE_SECONDS) == 0, self.log()

    def query(self, statement: str) -> list[tuple[object, ...]]:
        if self.database_url:
            with psycopg.connect(machine.libpq(self.database_url)) as server:
                return server.execute(statement).fetchall()
        with contextlib.closing(sqlite3.connect(self.folder / "data" / "trimus.sqlite3", timeout=20)) as file:
            return file.execute(statement).fetchall()

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        # Queues outlive their users on the servers.
        code = "app = celery_app(); app.connection().default_channel.queue_delete(app.conf.task_default_queue)"
        subprocess.run(
            [sys.executable, "-c", f"import django; django.setup()\nfrom tests.faults.dying import celery_app\n{code}"],
            env=self.environment,
            cwd=ROOT,
            check=False,
            capture_output=True,
        )


@pytest.fixture(
    params=[
        pytest.param(("embedded://localhost", False, STAGES), id="sqlite-embedded"),
        pytest.param(
            (machine.REDIS_URL, True, STAGES if LONG else SHORT),
            id="postgres-redis",
            marks=[pytest.mark.postgres, pytest.mark.redis],
        ),
        pytest.param(
            (machine.RABBITMQ_URL, True, STAGES if LONG else SHORT),
            id="postgres-rabbitmq",
            marks=[pytest.mark.postgres, pytest.mark.rabbitmq],
        ),
    ]
)
def stack(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stack]:
    broker_url, postgres, stages = request.param
    server = machine.postgres_url() if postgres else None
    name = f"trimus_stages_{uuid.uuid4().hex}"
    database_url = ""
    if server is not None:
        administrate(server, f'CREATE DATABASE "{name}"')
        database_url = f"{server.rpartition('/')[0]}/{name}"
    made = Stack(tmp_path, broker_url, database_url, stages)
    try:
        yield made
    finally:
        made.close()
        if server is not None:
            administrate(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def test_a_worker_killed_at_each_stage_does_its_work_exactly_once(stack: Stack) -> None:
    assert stack.start("manage.py", "migrate", "--verbosity", "0").wait() == 0, stack.log()
    stack.python(SET_UP.format(agents=len(stack.stages), seconds=0))
    for number, stage in enumerate(stack.stages):
        stack.python(ASSIGN.format(number=number))
        worker = stack.start("-m", "tests.faults.dying", stage)
        assert worker.wait(PATIENCE_SECONDS) == -signal.SIGKILL, stack.log()
    stack.start("-m", "tests.faults.dying")
    stack.start("-c", "from tests.faults.dying import celery_app; celery_app(); from trimus.beat import run; run()")

    def all_ended() -> bool:
        return [status for status, *_ in stack.query(STORY)] == ["done"] * len(stack.stages)

    wait_until(all_ended, lambda: f"{stack.query(STORY)}\n{stack.log()}", PATIENCE_SECONDS)
    time.sleep(1)  # what would be done twice would be done now
    assert stack.query(STORY) == [DONE_ONCE] * len(stack.stages)
    wait_until(lambda: stack.query(LEFT_OVER) == [(0, 0)], lambda: str(stack.query(LEFT_OVER)))


@pytest.mark.parametrize("stack", [("embedded://localhost", False, ())], indirect=True, ids=["sqlite-embedded"])
def test_a_worker_that_is_told_to_end_hands_its_run_back(stack: Stack) -> None:
    assert stack.start("manage.py", "migrate", "--verbosity", "0").wait() == 0, stack.log()
    stack.python(SET_UP.format(agents=1, seconds=300))
    worker = stack.start("-m", "tests.faults.dying")
    stack.python(ASSIGN.format(number=0))
    wait_until(lambda: stack.query("SELECT state FROM agents_run") == [("running",)], stack.log)
    worker.terminate()
    assert worker.wait(PATIENCE_SECONDS) == 0, stack.log()
    assert stack.query("SELECT state FROM agents_run") == [("lost",)]
    assert stack.query("SELECT state, tries FROM agents_wakeup") == [("pending", 0)]
