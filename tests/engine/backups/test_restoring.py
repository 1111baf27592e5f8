"""What was backed up comes back at one stroke that wakes nobody, and what does not fit changes nothing."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management.base import CommandError
from django.db import connection
from pytest_django.fixtures import Settings

from agents.models import Agent, DryRun, Run, RunState, Wakeup, WakeupState
from engine.backups import archive, postgresql
from engine.backups.manifest import NAME
from issues import blobs
from issues.actors import Person
from issues.models import Activity, Comment, Company, CompanyStatus, InboxItem, Issue, Notice, NoticeState
from issues.services.comments import write_comment
from issues.services.companies import resume_company
from issues.services.files import attach_file
from tests import build, machine
from tests.engine.backups.commands import rewritten, run
from tests.engine.test_commands import everything
from trimus import presence

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_workspaces_are_put_aside_where_only_the_database_was_lost(backup: Path, data_folder: Path) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("One of tests is never lost")
    (data_folder / "workspaces" / "1").mkdir(parents=True)
    connection.close()
    Path(connection.settings_dict["NAME"]).unlink()
    run("restore", str(backup))
    assert [path.name[:7] for path in (data_folder / "workspaces").iterdir()] == ["before-"]


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
        if server.execute("SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolsuper").fetchone() is None:
            pytest.skip("Only a superuser can be any other role")
        server.execute(f"CREATE ROLE {role}")
        try:
            with server.transaction():
                server.execute(f"SET LOCAL ROLE {role}")
                assert server.execute(postgresql._OTHERS, [name]).fetchall() == [("this host",)]
        finally:
            server.execute(f"DROP ROLE {role}")
