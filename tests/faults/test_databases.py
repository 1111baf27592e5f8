"""A database that is killed in the middle of work and stays away for a while: all that uses it goes on by itself."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import private
from tests.faults.private import PrivateServer
from tests.faults.stacks import LEASE_SECONDS, PATIENCE_SECONDS
from tests.faults.test_kills import ASSIGN, FOUND, Client, part, wait_for_runs
from tests.faults.work import DONE_ONCE, LEFT_BEHIND, NOTHING, STORY
from tests.servers import Installation, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.own_servers]

AWAY_SECONDS = 20.0
AGENTS = 3


@pytest.fixture
def postgres() -> Iterator[tuple[PrivateServer, str]]:
    with private.postgres() as server:
        yield server


@pytest.fixture
def installation(postgres: tuple[PrivateServer, str], tmp_path: Path) -> Iterator[Installation]:
    environment = {"DATABASE_URL": postgres[1], "TRIMUS_LEASE_SECONDS": str(LEASE_SECONDS)}
    installation = Installation(tmp_path, environment)
    installation.start()
    yield installation
    installation.stop(signal.SIGKILL)


def test_a_database_that_is_away_for_a_while_ends_nothing_and_loses_nothing(
    postgres: tuple[PrivateServer, str], installation: Installation
) -> None:
    server, _ = postgres
    installation.python(FOUND.format(agents=AGENTS, seconds=5))
    installation.python(ASSIGN.format(to=list(range(AGENTS))))
    client = Client(installation)
    parts = {name: part(installation, name) for name in ("web", "worker", "beat")}
    wait_for_runs(installation, AGENTS)
    server.kill()
    back_at = time.monotonic() + AWAY_SECONDS
    while time.monotonic() < back_at:
        client.open_issue()
    assert client.accepted == []
    assert client.refused, "it was told, and soon enough for a client that waits ten seconds"
    for status, answer in client.refused:
        assert (status, answer["detail"]) == (503, "The database cannot be reached.")
    server.start()

    def is_accepted() -> bool:
        client.open_issue()
        return client.accepted != []

    wait_until(is_accepted, installation.printed, PATIENCE_SECONDS)
    (title,) = client.accepted

    def is_done() -> bool:
        return installation.query(STORY)[:AGENTS] == [DONE_ONCE] * AGENTS

    wait_until(is_done, lambda: f"{installation.query(STORY)}\n{installation.printed()}", PATIENCE_SECONDS)
    assert installation.query(LEFT_BEHIND) == NOTHING
    assert installation.query("SELECT title FROM issues_issue ORDER BY number")[AGENTS:] == [(title,)]
    assert installation.parts() == parts, "nobody had to begin anew"
