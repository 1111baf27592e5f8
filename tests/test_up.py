"""The one-command start, from outside: what it prints, what it starts, and that nothing stays behind."""

from __future__ import annotations

import os
import signal
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Installation, is_alive, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, str]]:
    """A started installation with the demo company, and its first log-in link."""
    installation = Installation(tmp_path_factory.mktemp("up"))
    link = installation.start("--demo")
    yield installation, link
    installation.stop(signal.SIGKILL)


def status_of(url: str) -> int:
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.status


def test_it_prints_a_link_that_opens(running: tuple[Installation, str]) -> None:
    installation, link = running
    assert link.startswith(f"{installation.url}/login/")
    assert status_of(link) == 200
    assert "DEMO" in installation.printed()


def test_another_link_can_be_had_at_any_time(running: tuple[Installation, str]) -> None:
    installation, link = running
    other = installation.manage("login_link").stdout.strip()
    assert other != link
    assert status_of(other) == 200


def test_its_files_are_named_by_their_content_and_kept_for_ever(running: tuple[Installation, str]) -> None:
    installation, _ = running
    page = urllib.request.urlopen(f"{installation.url}/login/", timeout=10).read().decode()
    sheet = next(part for part in page.split('"') if part.startswith("/static/") and part.endswith(".css"))
    with urllib.request.urlopen(installation.url + sheet, timeout=10) as response:
        assert "immutable" in response.headers["Cache-Control"]


def test_a_taken_port_is_told_with_what_mends_it(running: tuple[Installation, str]) -> None:
    installation, _ = running
    result = installation.manage("up", "--no-browser", "--port", str(installation.port))
    assert result.returncode != 0
    assert f"--port {installation.port + 1}" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_worker_that_is_killed_is_started_again(running: tuple[Installation, str]) -> None:
    installation, _ = running
    wait_until(lambda: len(installation.parts()) == 3, installation.printed)
    worker = installation.parts()["worker"]
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: installation.parts().get("worker", worker) != worker, installation.printed)
    assert status_of(f"{installation.url}/healthz") == 200


def test_without_a_terminal_or_a_flag_it_makes_no_demo_and_says_how(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    try:
        installation.start()
        assert "`manage.py demo`" in installation.printed()
    finally:
        assert installation.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_however_it_ends_nothing_stays_behind(tmp_path: Path, number: int) -> None:
    installation = Installation(tmp_path)
    installation.lay_database()
    installation.start()
    parts = installation.parts().values()
    installation.stop(number)
    wait_until(lambda: not any(map(is_alive, parts)), installation.printed)
    with socket.create_server(("127.0.0.1", installation.port)):
        pass


def test_it_ends_with_its_parent_where_that_was_asked_for(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.lay_database()
    installation.start()
    assert installation.process is not None
    assert installation.process.stdin is not None
    parts = installation.parts().values()
    installation.process.stdin.close()  # as the system does when the parent is gone
    assert installation.process.wait(60) == 0
    assert not any(map(is_alive, parts))
