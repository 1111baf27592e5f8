"""A backup of an installation that runs, restored to another folder: from outside, with kill -9 in between."""

from __future__ import annotations

import shutil
import signal
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Installation, wait_until

pytestmark = pytest.mark.slow

KILLED_BEFORE_THE_STROKE = """
    import os, signal
    from engine.backups import restoring, sqlite
    from pathlib import Path
    def die(*_): os.kill(os.getpid(), signal.SIGKILL)
    sqlite.SQLite.put_in_place = die
    restoring.restore_backup(Path({path!r}), replace=True, told=print)
"""
FULL_DISK = """
import resource
from django.core.management import call_command
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
call_command("backup", to={path!r})
"""
TITLES = "SELECT title FROM issues_issue ORDER BY id"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Installation]:
    installation = Installation(tmp_path / "first")
    installation.start("--demo")
    yield installation
    installation.stop(signal.SIGKILL)


def test_a_backup_of_a_running_installation_becomes_another_one(running: Installation, tmp_path: Path) -> None:
    path = tmp_path / "kept.zip"
    made = running.manage("backup", "--to", str(path))
    assert made.returncode == 0, made.stderr
    assert "secret_key, which is not in it" in made.stdout
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    refused = running.manage("restore", str(path), "--replace")
    assert "Trimus runs here: stop it first" in refused.stderr
    assert refused.returncode != 0

    full = running.manage("shell", "--command", FULL_DISK.format(path=str(tmp_path / "there" / "full.zip")))
    assert "No backup was made. SQLite says" in full.stderr
    assert list((tmp_path / "there").iterdir()) == []

    other = Installation(tmp_path / "second")
    data = other.folder / "data"
    restored = other.manage("restore", str(path))
    assert restored.returncode == 0, restored.stderr
    assert "Paused: DEMO" in restored.stdout
    assert not list(data.glob("before-*")), "there was nothing to keep"
    titles = running.query(TITLES)
    assert other.query(TITLES) == titles != []

    other.python("from issues.models import Issue; Issue.objects.update(title='Changed since')")
    changed = other.query(TITLES)
    with pytest.raises(AssertionError):
        other.python(KILLED_BEFORE_THE_STROKE.format(path=str(path)))
    assert other.query(TITLES) == changed
    shutil.rmtree(data / "broker", ignore_errors=True)
    again = other.manage("restore", str(path), "--replace")
    assert again.returncode == 0, again.stderr
    assert other.query(TITLES) == titles
    assert not list(data.glob("*restoring*")) + list(data.glob(".trimus-backup-*")), "nothing of the killed one is left"

    try:
        other.start()
        with urllib.request.urlopen(f"{other.url}/healthz", timeout=10) as response:
            assert response.status == 200
        ticked = "SELECT felt_at FROM agents_pulse WHERE name = 'tick'"
        wait_until(lambda: bool(other.query(ticked)), other.printed, 60)
        assert other.query("SELECT DISTINCT status FROM issues_company") == [("paused",)]
        assert other.query("SELECT count(*) FROM agents_run WHERE state IN ('queued', 'running')") == [(0,)]
    finally:
        other.stop(signal.SIGKILL)
