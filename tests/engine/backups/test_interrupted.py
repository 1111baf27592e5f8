"""A restore that fails, or is killed, leaves what was there; what is left over the next one mends."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

import psycopg
import pytest
from django.core.management.base import CommandError
from django.db import connection

from engine.backups import archive, restoring, sqlite
from engine.diagnosis import examine
from engine.sweep import sweep
from issues.models import Company
from tests import build, machine
from tests.engine.backups.commands import run
from tests.engine.test_commands import everything

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_full_disk_at_the_last_moment_leaves_all_as_it_was(
    backup: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    build.issue(Company.objects.get(), "After")
    (data_folder / "workspaces" / "1").mkdir(parents=True)
    before = everything()
    monkeypatch.setattr(type(restoring.keeper()), "put_in_place", is_full)
    with pytest.raises(CommandError, match="Nothing was changed: No space left"):
        run("restore", str(backup), replace=True)
    assert everything() == before
    assert [path.name for path in (data_folder / "workspaces").iterdir()] == ["1"]
    assert not [*data_folder.glob(f"{archive.ASIDE}*"), *data_folder.glob("before-*")]


def test_workspaces_are_put_aside_after_the_stroke_by_whoever_comes_next(
    backup: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed right after the stroke: what agents left is not mixed with what is restored, and stays in one place."""

    def is_killed() -> None:
        raise KeyboardInterrupt

    left = data_folder / "workspaces" / "1" / "7" / "left.txt"
    left.parent.mkdir(parents=True)
    left.write_text("by an agent")
    monkeypatch.setattr(restoring, "put_workspaces_aside", is_killed)
    with pytest.raises(CommandError, match=f"Unless “{restoring.IN_PLACE}” stands above, nothing was changed"):
        run("restore", str(backup), replace=True)
    assert left.exists()
    [aside] = data_folder.glob("before-*")
    sweep()
    moved = data_folder / "workspaces" / aside.name / "1" / "7" / "left.txt"
    assert moved.read_text() == "by an agent"
    left.parent.mkdir(parents=True)
    sweep()
    assert left.parent.exists(), "once"


def test_workspaces_that_cannot_be_put_aside_are_told_of_and_the_rest_is_restored(
    backup: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_refused(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(restoring, "put_workspaces_aside", is_refused)
    told = run("restore", str(backup), replace=True)
    assert "Restored as it was" in told
    assert "still lie where they lay ([Errno 13] Permission denied)" in told


def test_the_doctor_finds_what_a_killed_restore_left(
    backup: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> str:
        return next(f"{check.found}: {check.mend}" for check in examine() if check.what == "restore")

    monkeypatch.setattr(type(restoring.keeper()), "discard", lambda _: None)
    monkeypatch.setattr(restoring, "quiet_down", lambda: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(CommandError, match="Nothing was changed: No space left"):
        run("restore", str(backup), replace=True)
    assert "restoring: manage.py restore FILE --replace once more" in found()
    monkeypatch.undo()
    restoring.keeper().discard()
    assert found().startswith("none was interrupted")


def test_the_tool_of_a_killed_restore_that_is_loading_still_does_not_stand_in_the_way(backup: Path) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite needs none")
    loading = f"{connection.settings_dict['NAME']}_restoring"
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {connection.ops.quote_name(loading)}")
    with contextlib.closing(psycopg.connect(machine.libpq(machine.postgres_url() or ""), dbname=loading)):
        assert "Restored as it was" in run("restore", str(backup), replace=True)


def test_a_second_name_of_the_database_that_a_killed_restore_left_is_told_and_goes_with_the_next(
    backup: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("PostgreSQL puts both names in place in one transaction")

    def is_killed(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlite, "sync_folder", is_killed)
    monkeypatch.setattr(sqlite.SQLite, "discard", lambda _: None)
    with pytest.raises(CommandError, match="Interrupted"):
        run("restore", str(backup), replace=True)
    [twin] = data_folder.glob("before-*")
    assert str(twin) in next(check.found for check in examine() if check.what == "restore")
    monkeypatch.undo()
    run("restore", str(backup), replace=True)
    [kept] = data_folder.glob("before-*")
    assert not (kept / "trimus.sqlite3").samefile(connection.settings_dict["NAME"])
    assert (kept / "trimus.sqlite3").stat().st_nlink == 1
