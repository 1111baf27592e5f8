"""A backup is the state of one moment, whole or not there."""

from __future__ import annotations

import errno
import os
import shutil
import zipfile
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from django.utils import timezone

from agents.models import Pulse, Run, RunState
from engine.backups import archive, restoring
from engine.backups.making import make_backup
from engine.backups.manifest import NAME
from engine.diagnosis import examine
from issues import blobs
from issues.actors import Person
from issues.models import Company, Issue
from issues.services.issues import delete_issue
from issues.tidying import tidy_up
from tests.engine.backups.commands import run
from tests.services.test_tidying import age
from trimus import presence

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_backup_and_a_restore_do_not_meet(company: Company, tmp_path: Path) -> None:
    with presence.alone(), pytest.raises(SystemExit, match="is being restored"):
        run("backup", to=str(tmp_path / "kept.zip"))
    with presence.counted(), pytest.raises(presence.Running), presence.alone():
        pass
    assert presence._held is None


def test_a_backup_has_its_name_only_once_it_is_whole_and_never_anothers(
    issue: Issue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "there" / "kept.zip"
    monkeypatch.setattr(archive.ArchiveWriter, "finish", lambda *_: (_ for _ in ()).throw(OSError(28, "disk full")))
    with pytest.raises(CommandError, match="No backup was made: disk full"):
        run("backup", to=str(target))
    assert list(target.parent.iterdir()) == []
    monkeypatch.undo()
    target.write_text("something else")
    with pytest.raises(CommandError, match="exists already"):
        run("backup", to=str(target))
    assert target.read_text() == "something else"


def test_only_its_owner_can_read_it_and_no_key_is_in_it(backup: Path, data_folder: Path, tmp_path: Path) -> None:
    assert backup.stat().st_mode & 0o777 == 0o600
    (data_folder / "secret_key").write_text("the key itself")
    told = run("backup", to=str(tmp_path / "second.zip"))
    assert f"{data_folder / 'secret_key'}, which is not in it" in told
    with zipfile.ZipFile(tmp_path / "second.zip") as second:
        assert all(b"the key itself" not in second.read(name) for name in second.namelist())


def test_what_is_deleted_while_it_is_made_is_in_it(
    issue: Issue, owner: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are read, and before their bytes are the issue is deleted and the sweep comes by."""
    Run.objects.update(state=RunState.CANCELLED, ended_at=timezone.now())
    copy = type(restoring.keeper()).copy

    def copy_then_delete(*arguments: object) -> object:
        copied = copy(*arguments)  # type: ignore[arg-type]
        delete_issue(actor=owner, issue=issue)
        age()
        tidy_up()
        return copied

    monkeypatch.setattr(type(restoring.keeper()), "copy", copy_then_delete)
    made = make_backup(tmp_path / "kept.zip", lambda _: None)
    assert made.manifest.blobs.keys() == {blobs.digest_of(b"bytes")}
    age()
    tidy_up()
    assert not blobs.path_of(blobs.digest_of(b"bytes")).exists()


def test_the_doctor_says_when_the_last_one_was_made(issue: Issue, tmp_path: Path) -> None:
    def found() -> str:
        return next(check.found for check in examine() if check.what == "backup")

    assert found() == "none was made yet: manage.py backup"
    run("backup", to=str(tmp_path / "kept.zip"))
    assert found().startswith("the last one was made ")


def test_a_backup_that_cannot_be_noted_is_made_all_the_same(
    issue: Issue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_locked(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(type(Pulse.objects), "update_or_create", is_locked)
    assert "holds" in run("backup", to=str(tmp_path / "kept.zip"))


def test_a_tool_that_is_missing_or_old_is_named_with_what_installs_it(
    issue: Issue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite needs none")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(CommandError, match="There is no pg_dump here: .*apt-get install postgresql-client-"):
        run("backup", to=str(tmp_path / "kept.zip"))
    old = tmp_path / "pg_dump"
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6'\n")
    old.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(old))
    with pytest.raises(CommandError, match="is version 9, and the server is"):
        run("backup", to=str(tmp_path / "kept.zip"))


def test_what_a_killed_one_left_goes_with_the_next_and_what_another_is_at_stays(
    company: Company, tmp_path: Path
) -> None:
    (tmp_path / f"{archive.ASIDE}dead").mkdir()
    with archive.growing_beside(tmp_path / "other.zip") as at_work:
        run("backup", to=str(tmp_path / "kept.zip"))
        assert list(tmp_path.glob(f"{archive.ASIDE}*")) == [at_work]


def test_a_disk_without_hard_links_takes_a_backup_too(
    company: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def has_none(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", has_none)
    run("backup", to=str(tmp_path / "kept.zip"))
    with zipfile.ZipFile(tmp_path / "kept.zip") as kept:
        assert NAME in kept.namelist()


def test_a_backup_of_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.introspection, "table_names", list)
    with pytest.raises(CommandError, match="The database is empty: TRIMUS_DATA_DIR or DATABASE_URL may name another"):
        run("backup", to=str(tmp_path / "there" / "kept.zip"))
    assert not (tmp_path / "there").exists()
