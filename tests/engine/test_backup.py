"""A backup is the state of one moment, whole or not there; restoring it is one stroke that wakes nobody."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, DryRun, Pulse, Run, RunState, Wakeup, WakeupState
from engine.backups import archive, postgresql, restoring, sqlite
from engine.backups.making import make_backup
from engine.backups.manifest import NAME
from engine.diagnosis import examine
from engine.sweep import sweep
from issues import blobs
from issues.actors import Person
from issues.models import Activity, Comment, Company, CompanyStatus, InboxItem, Issue, Notice, NoticeState
from issues.services.comments import write_comment
from issues.services.companies import resume_company
from issues.services.files import attach_file
from issues.services.issues import delete_issue
from issues.services.notices import note_new
from issues.tidying import tidy_up
from tests import build, machine
from tests.engine.test_commands import everything
from tests.services.test_tidying import age
from trimus import presence

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    if connection.vendor == "postgresql" and shutil.which("pg_dump") is None:
        pytest.skip("no pg_dump: apt-get install postgresql-client")
    yield settings.DATA_DIR
    if connection.vendor == "postgresql":
        drop_former()


@pytest.fixture
def issue(company: Company, owner: Person, ada: Agent) -> Issue:
    """With a file, a comment, and its agent at work."""
    issue = build.issue(company, "Before", assignee=ada)
    attach_file(actor=owner, issue=issue, name="a.txt", content=b"bytes")
    build.member(company, "octavia")
    write_comment(actor=owner, issue=issue, body="Said before to @octavia.")
    note_new()
    write_comment(actor=owner, issue=issue, body="And again, @octavia.")
    run = build.at_work(ada, issue).run
    assert run is not None
    DryRun.objects.create(company=company, run=run, member=build.member_row(owner))
    return issue


@pytest.fixture
def backup(issue: Issue, tmp_path: Path) -> Path:
    path = tmp_path / "kept.zip"
    run("backup", to=str(path))
    return path


def run(name: str, *arguments: str, **options: object) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


def drop_former() -> None:
    """The databases that were put aside."""
    with connection._nodb_cursor() as cursor:
        name = connection.settings_dict["NAME"]
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{name}\\_%"])
        for (former,) in cursor.fetchall():
            cursor.execute(f"DROP DATABASE {connection.ops.quote_name(former)}")


def rewritten(backup: Path, **changes: object) -> Path:
    """The same archive with another manifest."""
    target = backup.with_name("other.zip")
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            content = source.read(name)
            if name == NAME:
                content = json.dumps(json.loads(content) | changes).encode()
            copy.writestr(name, content)
    return target


def test_what_is_restored_is_what_was_there_and_what_was_here_is_kept(
    backup: Path, company: Company, owner: Person, data_folder: Path
) -> None:
    issue = Issue.objects.get(title="Before")
    later = build.issue(company, "After")
    write_comment(actor=owner, issue=issue, body="Said after.")
    shutil.rmtree(blobs.folder())
    attach_file(actor=owner, issue=later, name="b.txt", content=b"later")
    told = run("restore", str(backup), replace=True)
    assert set(Issue.objects.values_list("title", flat=True)) == {"Before"}
    assert not Comment.objects.filter(body="Said after.").exists()
    assert blobs.read(issue.attachments.get().blob) == b"bytes"
    [aside] = data_folder.glob("before-*")
    assert (aside / "blobs" / blobs.digest_of(b"later")[:2] / blobs.digest_of(b"later")).read_bytes() == b"later"
    assert aside.name in told.replace("before_", "before-").replace("_", "-")
    if connection.vendor == "sqlite":
        assert (aside / "trimus.sqlite3").exists()
    build.issue(company, "Numbers go on")  # the sequences and the guards of the tables came with them
    assert not list(data_folder.glob(f"{archive.ASIDE}*"))


def test_what_was_under_way_ends_and_wakes_and_tells_nobody(
    backup: Path, company: Company, ada: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    rings: list[str] = []
    monkeypatch.setattr("engine.doorbell.ring", lambda: rings.append("rang"))
    Agent.objects.update(schedule_minutes=60)
    assert Notice.objects.count() < InboxItem.objects.count()
    wakeups, items = Wakeup.objects.count(), InboxItem.objects.count()
    told = run("restore", str(backup), replace=True)
    assert "Paused: ACME." in told
    assert Company.objects.get().status == CompanyStatus.PAUSED
    assert [run.state for run in Run.objects.all()] == [RunState.LOST]
    assert [dry_run.state for dry_run in DryRun.objects.all()] == ["failed"]
    assert set(Wakeup.objects.values_list("state", "tries")) == {(WakeupState.PENDING, 0)}
    assert (Wakeup.objects.count(), InboxItem.objects.count()) == (wakeups, items)
    assert InboxItem.objects.filter(notice=None).count() == 0 < items
    assert not Notice.objects.exclude(state=NoticeState.SKIPPED).exists()
    assert not rings
    assert Activity.objects.filter(kind="company.paused", actor_kind="system").exists()
    resume_company(actor=build.owner_of(company), company=Company.objects.get())  # it is whole: work goes on


def test_agents_that_run_programs_wait_for_somebody_to_let_them(company: Company, issue: Issue, tmp_path: Path) -> None:
    build.agent(company, "Cato", adapter="process", command="cat")
    run("backup", to=str(tmp_path / "kept.zip"))
    run("restore", str(tmp_path / "kept.zip"), replace=True)
    assert dict(Agent.objects.values_list("handle", "status")) == {"ada": "active", "cato": "paused"}
    assert Activity.objects.filter(kind="agent.paused", actor_kind="system").exists()


def test_an_installation_that_is_not_empty_is_left_alone_unless_that_is_asked_for(backup: Path) -> None:
    build.issue(Company.objects.get(), "After")
    before = everything()
    with pytest.raises(CommandError, match="Nothing was changed.*--replace"):
        run("restore", str(backup))
    assert everything() == before


def test_what_does_not_fit_here_is_refused_with_the_reason(backup: Path) -> None:
    before = everything()
    with zipfile.ZipFile(backup) as source:
        members = json.loads(source.read(NAME))["members"]
    other, ends = ("postgresql", "dump") if connection.vendor == "sqlite" else ("sqlite", "sqlite3")
    renamed = {f"database.{ends}" if name.startswith("database.") else name: one for name, one in members.items()}
    unfit: dict[str, dict[str, object]] = {
        "made by a newer Trimus.*9999_morrow": {"migrations": ["issues.0001_initial", "issues.9999_morrow"]},
        "made by a newer Trimus, in a form": {"format": 2},
        "holds no database": {"engine": "oracle"},
        "holds “../../etc/passwd”": {"members": members | {"../../etc/passwd": {"size": 1, "sha256": "0" * 64}}},
        "manifest cannot be read": {"unheard": "of"},
        "manifest cannot be read: it": {"counts": {"issues": "many"}},
        "made on PostgreSQL 999": {"server_version": 999},
        "set DATABASE_URL": {"engine": other, "members": renamed},
    }
    for why, changes in unfit.items():
        with pytest.raises(CommandError, match=f"Nothing was changed. It.*{why}"):
            run("restore", str(rewritten(backup, **changes)), replace=True)
    assert everything() == before


def test_a_damaged_one_is_found_before_anything_is_touched(backup: Path) -> None:
    whole, before = backup.read_bytes(), everything()
    half = len(whole) // 2
    with zipfile.ZipFile(backup) as archived:
        manifest = archived.getinfo(NAME).header_offset + 60  # within what is packed
    flipped = (whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :] for place in (half, manifest, -10))
    for damaged in (*flipped, whole[:half], b""):
        backup.write_bytes(damaged)
        with pytest.raises(CommandError, match="Nothing was changed. (It is no backup|.*damaged)"):
            run("restore", str(backup), replace=True)
    assert everything() == before


def test_one_that_swells_or_is_packed_otherwise_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_LONGEST_MANIFEST", 999)
    for how, content, why in (
        (zipfile.ZIP_BZIP2, b"{}", "packed in another way"),
        (zipfile.ZIP_DEFLATED, bytes(1000), "too long"),
    ):
        with zipfile.ZipFile(tmp_path / "other.zip", "w", how) as archived:
            archived.writestr(NAME, content)
        with pytest.raises(CommandError, match=f"Nothing was changed. .*{why}"):
            run("restore", str(tmp_path / "other.zip"))


def test_nothing_is_restored_while_trimus_runs_and_it_does_not_start_meanwhile(
    backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "_held", None)
    with presence.alone(), pytest.raises(SystemExit, match="is being restored"):
        presence.hold()
    presence.hold()
    with pytest.raises(CommandError, match="Trimus runs here: stop it first"):
        run("restore", str(backup), replace=True)
    assert presence._held is not None
    presence.let_go()


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


def test_workspaces_are_put_aside_where_only_the_database_was_lost(backup: Path, data_folder: Path) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("One of tests is never lost")
    (data_folder / "workspaces" / "1").mkdir(parents=True)
    connection.close()
    Path(connection.settings_dict["NAME"]).unlink()
    run("restore", str(backup))
    assert [path.name[:7] for path in (data_folder / "workspaces").iterdir()] == ["before-"]


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


def test_bytes_that_the_disk_has_lost_are_told_and_the_rest_is_kept(
    issue: Issue, owner: Person, tmp_path: Path
) -> None:
    attach_file(actor=owner, issue=issue, name="b.txt", content=b"more bytes")
    blobs.path_of(blobs.digest_of(b"bytes")).unlink()
    blobs.path_of(blobs.digest_of(b"more bytes")).write_bytes(b"other bytes")
    assert "2 files are lost or damaged on this disk" in run("backup", to=str(tmp_path / "kept.zip"))
    assert "2 files were lost before it was made" in run("restore", str(tmp_path / "kept.zip"), replace=True)


def test_secrets_that_no_key_here_opens_are_counted(company: Company, tmp_path: Path, settings: Settings) -> None:
    build.provider(company, key="sk-house-1234567890")
    path = tmp_path / "kept.zip"
    run("backup", to=str(path))
    settings.ENCRYPTION_KEYS = ["another key of this installation, long enough"]
    assert "No key of this installation opens 1 secret in it" in run("restore", str(path), replace=True)


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


def test_a_database_that_somebody_has_open_is_not_replaced(backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.backups.postgresql._LEAVING_SECONDS", 0)
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        opened: Any = sqlite3.connect(name)
        opened.execute("BEGIN")
        opened.execute("SELECT count(*) FROM issues_company").fetchone()
    else:
        opened = psycopg.connect(machine.libpq(machine.postgres_url() or ""), dbname=name)
    with contextlib.closing(opened), pytest.raises(CommandError, match="Nothing was changed.*open (in|from)"):
        run("restore", str(backup), replace=True)


def test_the_tool_of_a_killed_restore_that_is_loading_still_does_not_stand_in_the_way(backup: Path) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite needs none")
    loading = f"{connection.settings_dict['NAME']}_restoring"
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {connection.ops.quote_name(loading)}")
    with contextlib.closing(psycopg.connect(machine.libpq(machine.postgres_url() or ""), dbname=loading)):
        assert "Restored as it was" in run("restore", str(backup), replace=True)


def test_a_backup_of_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.introspection, "table_names", list)
    with pytest.raises(CommandError, match="The database is empty: TRIMUS_DATA_DIR or DATABASE_URL may name another"):
        run("backup", to=str(tmp_path / "there" / "kept.zip"))
    assert not (tmp_path / "there").exists()


def test_the_superuser_does_not_restore_what_another_user_runs(
    backup: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (data_folder / "running.lock").touch()
    stat = Path.stat

    def of_another(path: Path, **options: bool) -> os.stat_result:
        found = stat(path, **options)
        is_it = path == data_folder / "running.lock"
        return os.stat_result([*found[:4], 4_000_000, *found[5:10]]) if is_it else found

    monkeypatch.setattr(Path, "stat", of_another)
    with pytest.raises(
        CommandError, match="Trimus runs here as #4000000, who could not open what the superuser writes"
    ):
        run("restore", str(backup), replace=True)


def test_sessions_of_other_roles_are_seen_too(company: Company) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no roles")
    name = connection.settings_dict["NAME"]
    role = connection.ops.quote_name(f"{name}_of_little_right")
    with contextlib.closing(psycopg.connect(machine.libpq(machine.postgres_url() or ""), autocommit=True)) as server:
        server.execute(f"CREATE ROLE {role}")
        try:
            with server.transaction():
                server.execute(f"SET LOCAL ROLE {role}")
                assert server.execute(postgresql._OTHERS, [name]).fetchall() == [("this host",)]
        finally:
            server.execute(f"DROP ROLE {role}")


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
