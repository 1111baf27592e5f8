"""What is killed in the middle of its work loses none of it and does none of it twice.

Each test starts an installation of its own, by its one command.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import templates
from tests.faults.stacks import DATABASES, LEASE_SECONDS, PATIENCE_SECONDS
from tests.faults.work import DONE_ONCE, LEFT_BEHIND, NOTHING, STORY
from tests.servers import Installation, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

CLIENTS = 3
ENOUGH = 60
"""Issues."""

FOUND = "from tests.faults import work; work.found(agents={agents}, seconds={seconds}, runs=5)"
ASSIGN = "from tests.faults import work; work.assign(to={to})"


@pytest.fixture(params=DATABASES)
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    """On a fresh database, not started yet."""
    installation = Installation(tmp_path, {"TRIMUS_LEASE_SECONDS": str(LEASE_SECONDS)})
    if request.param == "sqlite":
        installation.lay_database()
        yield from stopped(installation)
        return
    with templates.fresh_postgres() as installation.environment["DATABASE_URL"]:
        yield from stopped(installation)


def stopped(installation: Installation) -> Iterator[Installation]:
    try:
        yield installation
    finally:
        if installation.process is not None:
            installation.stop(signal.SIGKILL)


def wait_for_runs(installation: Installation, runs: int) -> None:
    def begun() -> int:
        return int(installation.query("SELECT count(*) FROM agents_run")[0][0])

    wait_until(lambda: begun() >= runs, installation.printed, PATIENCE_SECONDS)


def wait_for_the_end(installation: Installation, issues: int) -> list[tuple[object, ...]]:
    """The story, once all issues are closed and nothing is left behind."""

    def ended() -> bool:
        statuses = [status for status, *_ in installation.query(STORY)]
        return statuses == ["done"] * issues and installation.query(LEFT_BEHIND) == NOTHING

    def told() -> str:
        return f"{installation.query(STORY)} {installation.query(LEFT_BEHIND)}\n{installation.printed()}"

    wait_until(ended, told, PATIENCE_SECONDS)
    return installation.query(STORY)


def part(installation: Installation, name: str) -> int:
    """The process id of web, worker or beat, once it runs."""
    wait_until(lambda: name in installation.parts(), installation.printed, PATIENCE_SECONDS)
    return installation.parts()[name]


def test_an_installation_that_is_killed_whole_goes_on_where_it_was(installation: Installation) -> None:
    installation.start()
    installation.python(FOUND.format(agents=2, seconds=3))
    installation.python(ASSIGN.format(to=[0, 1]))
    wait_for_runs(installation, 2)
    installation.stop(signal.SIGKILL)
    installation.start()
    assert wait_for_the_end(installation, 2) == [DONE_ONCE] * 2


def test_a_beat_that_is_killed_is_begun_again_and_finds_what_no_message_told(installation: Installation) -> None:
    installation.start()
    installation.python(FOUND.format(agents=3, seconds=0))
    worker = part(installation, "worker")
    beat = part(installation, "beat")
    os.kill(worker, signal.SIGSTOP)
    os.kill(beat, signal.SIGKILL)
    installation.python(ASSIGN.format(to=[0, 1, 2]))
    for message in (installation.folder / "data" / "broker").glob("*/*"):
        message.unlink()
    os.kill(worker, signal.SIGCONT)
    assert wait_for_the_end(installation, 3) == [DONE_ONCE] * 3
    assert part(installation, "beat") != beat


class Client:
    """Opens issues over the API, and goes on when the server is gone for a while."""

    def __init__(self, installation: Installation) -> None:
        self.port = installation.port
        self.key = installation.manage("create_key", "--user", "acme-founder").stdout.strip()
        self.accepted: list[str] = []
        self.refused: list[tuple[int, dict[str, object]]] = []

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
            if response.status == 201:
                self.accepted.append(title)
            else:
                self.refused.append((response.status, json.loads(answer)))
        finally:
            connection.close()


def test_what_a_killed_server_accepted_is_there_and_numbers_have_no_gap(installation: Installation) -> None:
    installation.start()
    installation.python(FOUND.format(agents=0, seconds=0))
    client = Client(installation)
    deadline = time.monotonic() + PATIENCE_SECONDS

    def go_on() -> None:
        while len(client.accepted) < ENOUGH and time.monotonic() < deadline:
            client.open_issue()

    several = [threading.Thread(target=go_on) for _ in range(CLIENTS)]  # the kills come in the middle of requests
    for one in several:
        one.start()
    for kill in (1, 2):
        wait_until(lambda kill=kill: len(client.accepted) >= kill * ENOUGH // 3, installation.printed, PATIENCE_SECONDS)
        os.kill(part(installation, "web"), signal.SIGKILL)
    for one in several:
        one.join()
    assert len(client.accepted) >= ENOUGH, installation.printed()
    rows = installation.query("SELECT number, title FROM issues_issue")
    assert sorted(number for number, _ in rows) == list(range(1, len(rows) + 1))
    assert set(client.accepted) <= {title for _, title in rows}
    assert client.refused == []
