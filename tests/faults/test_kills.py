"""What is killed in the middle of its work loses none of it and does none of it twice.

Each test starts an installation of its own. `make faults` repeats the random ones at length.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests import machine
from tests.servers import Installation, free_port, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

LONG = os.environ.get("TRIMUS_FAULTS") == "long"
LEASE_SECONDS = 3
# From a kill to the end of the work: the lease, the sweep that sees it, and the model once more.
PATIENCE_SECONDS = 90.0

# An agent that thinks for a while, then says one thing, keeps one result and finishes.
SET_UP = """
from tests import build
company, owner = build.company_with_founder(max_concurrent_runs=20, runs_per_hour=1000)
script = '''
- delay: 3
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
company = Company.objects.get()
for agent in Agent.objects.order_by("pk"):
    build.issue(company, assignee=agent)
"""
# For each issue: its status, its comments, findings and finished runs.
STORY = """
SELECT status,
    (SELECT count(*) FROM issues_comment WHERE issue_id = issues_issue.id),
    (SELECT count(*) FROM issues_finding WHERE issue_id = issues_issue.id),
    (SELECT count(*) FROM agents_run WHERE issue_id = issues_issue.id AND state = 'succeeded')
FROM issues_issue ORDER BY number
"""
DONE_ONCE = ("done", 1, 1, 1)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a fresh database; empty for SQLite, which lies in the installation's folder."""
    if request.param == "sqlite":
        yield ""
        return
    server = machine.postgres_url()
    assert server is not None
    name = f"trimus_faults_{uuid.uuid4().hex}"
    administrate(server, f'CREATE DATABASE "{name}"')
    yield f"{server.rpartition('/')[0]}/{name}"
    administrate(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def administrate(server: str, statement: str) -> None:
    with psycopg.connect(machine.libpq(server), autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture
def installation(tmp_path: Path, database_url: str) -> Iterator[Installation]:
    environment = {"DATABASE_URL": database_url, "TRIMUS_LEASE_SECONDS": str(LEASE_SECONDS)}
    installation = Installation(tmp_path, environment)
    yield installation
    if installation.process is not None:
        installation.stop(signal.SIGKILL)


def wait_for_running(installation: Installation, runs: int) -> None:
    def running() -> int:
        return int(installation.query("SELECT count(*) FROM agents_run WHERE state = 'running'")[0][0])

    wait_until(lambda: running() == runs, installation.printed)


def wait_for_the_end(installation: Installation, issues: int) -> list[tuple[object, ...]]:
    """The story, once all issues are closed."""

    def all_closed() -> bool:
        statuses = [status for status, *_ in installation.query(STORY)]
        return len(statuses) == issues and set(statuses) == {"done"}

    wait_until(all_closed, lambda: f"{installation.query(STORY)}\n{installation.printed()}", PATIENCE_SECONDS)
    return installation.query(STORY)


def test_a_run_whose_worker_is_killed_is_done_exactly_once(installation: Installation) -> None:
    installation.start()
    installation.python(SET_UP.format(agents=1))
    installation.python(ASSIGN)
    wait_for_running(installation, 1)
    os.kill(installation.parts()["worker"], signal.SIGKILL)
    assert wait_for_the_end(installation, 1) == [DONE_ONCE]


def test_an_installation_that_is_killed_whole_goes_on_where_it_was(installation: Installation) -> None:
    installation.start()
    installation.python(SET_UP.format(agents=2))
    installation.python(ASSIGN)
    wait_for_running(installation, 2)
    installation.stop(signal.SIGKILL)
    installation.start()
    assert wait_for_the_end(installation, 2) == [DONE_ONCE] * 2


@pytest.mark.parametrize("seed", range(20 if LONG else 1))
def test_a_worker_killed_at_any_moment_loses_and_repeats_nothing(installation: Installation, seed: int) -> None:
    moments = random.Random(seed)
    installation.start()
    installation.python(SET_UP.format(agents=5))
    installation.python(ASSIGN)
    for _ in range(2):  # a run that is lost more often is a person's to look at
        time.sleep(moments.uniform(0.0, 4.0))
        wait_until(lambda: "worker" in installation.parts(), installation.printed)
        os.kill(installation.parts()["worker"], signal.SIGKILL)
    assert wait_for_the_end(installation, 5) == [DONE_ONCE] * 5


def test_a_broker_folder_that_is_wiped_costs_no_work(installation: Installation) -> None:
    installation.start()
    installation.python(SET_UP.format(agents=3))
    os.kill(installation.parts()["worker"], signal.SIGSTOP)
    installation.python(ASSIGN)
    shutil.rmtree(installation.folder / "data" / "broker")
    os.kill(installation.parts()["worker"], signal.SIGCONT)
    assert wait_for_the_end(installation, 3) == [DONE_ONCE] * 3


class Client:
    """Opens issues over the API, and goes on when the server is gone for a while."""

    def __init__(self, installation: Installation) -> None:
        self.port = installation.port
        self.key = installation.manage("create_key", "--user", "acme-founder").stdout.strip()
        self.accepted: list[str] = []

    def open_issue(self) -> None:
        title = uuid.uuid4().hex
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            connection.request("POST", "/api/issues", json.dumps({"company": "ACME", "title": title}), headers)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)
        else:
            assert response.status == 201, answer
            self.accepted.append(title)
        finally:
            connection.close()


def test_what_a_killed_server_accepted_is_there_and_numbers_have_no_gap(installation: Installation) -> None:
    installation.start()
    installation.python(SET_UP.format(agents=0))
    client = Client(installation)
    killed = 0
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(client.accepted) < 60:
        assert time.monotonic() < deadline, installation.printed()
        client.open_issue()
        if killed < 2 and len(client.accepted) == 20 * (killed + 1):
            os.kill(installation.parts()["web"], signal.SIGKILL)
            killed += 1
    rows = installation.query("SELECT number, title FROM issues_issue")
    assert sorted(number for number, _ in rows) == list(range(1, len(rows) + 1))
    assert set(client.accepted) <= {title for _, title in rows}


@pytest.mark.redis
def test_work_asked_for_while_redis_is_down_is_done_when_it_is_back(tmp_path: Path) -> None:
    port = free_port()
    redis = start_redis(port, tmp_path)
    installation = Installation(
        tmp_path, {"CELERY_BROKER_URL": f"redis://127.0.0.1:{port}/0", "TRIMUS_LEASE_SECONDS": str(LEASE_SECONDS)}
    )
    try:
        installation.start()
        installation.python(SET_UP.format(agents=2))
        redis.kill()
        redis.wait()
        installation.python(ASSIGN)
        redis = start_redis(port, tmp_path)
        assert wait_for_the_end(installation, 2) == [DONE_ONCE] * 2
    finally:
        installation.stop(signal.SIGKILL)
        redis.kill()
        redis.wait()


def start_redis(port: int, folder: Path) -> subprocess.Popen[bytes]:
    """A server of this test's own."""
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)
