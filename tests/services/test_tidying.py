"""What nothing refers to goes; what somebody is about to refer to does not, however close it is."""

from __future__ import annotations

import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent
from issues import blobs, tidying
from issues.actors import Person, Worker
from issues.models import Attachment, Blob, Company, Issue, KeptAnswer, LoginLink, WorkspaceFile
from issues.services.accounts import issue_login_link
from issues.services.companies import delete_company
from issues.services.files import attach_file, write_file
from issues.services.issues import delete_issue
from issues.tidying import make_left_behind, tidy_up
from issues.workspaces import place_of
from tests import build
from tests.services.at_once import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = timedelta(days=2)


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture(autouse=True)
def whole_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    """All folders of blobs each time, instead of in a day."""

    def remove_unrecorded() -> None:
        for folder in tidying._folders(blobs.folder()):
            tidying._remove_unrecorded(folder)

    monkeypatch.setattr(tidying, "remove_unrecorded", remove_unrecorded)


@pytest.fixture
def worker(company: Company, ada: Agent) -> Worker:
    return build.at_work(ada, build.issue(company, assignee=ada))


def age() -> None:
    """Let two days go by for all that is stored."""
    Blob.objects.update(kept_at=timezone.now() - LONG_AGO)
    old = time.time() - LONG_AGO.total_seconds()
    for path in blobs.folder().rglob("*"):
        if path.is_file():
            os.utime(path, (old, old))


def stored() -> set[str]:
    return {path.name for path in blobs.folder().rglob("*") if path.is_file()}


def test_files_of_a_deleted_issue_go_and_those_of_others_stay(company: Company, owner: Person) -> None:
    issue, other = build.issue(company), build.issue(company)
    for one in (issue, other):
        attach_file(actor=owner, issue=one, name="a.txt", content=b"both have it")
    attach_file(actor=owner, issue=issue, name="b.txt", content=b"only this")
    delete_issue(actor=owner, issue=issue)
    tidy_up()
    assert len(stored()) == 2  # a day has to go by
    age()
    tidy_up()
    assert stored() == {blobs.digest_of(b"both have it")} == set(Blob.objects.values_list("pk", flat=True))


def test_files_and_workspaces_of_a_deleted_company_go(
    company: Company, owner: Person, worker: Worker, data_folder: Path
) -> None:
    assert worker.home is not None
    write_file(actor=worker, issue=worker.home, path="docs/a.txt", text="x")
    (place_of(worker.home).path / "own").mkdir()
    company.runs.update(ended_at=timezone.now(), state="cancelled")
    delete_company(actor=owner, company=company)
    age()
    tidy_up()
    assert stored() == set()
    assert list((data_folder / "workspaces").iterdir()) == []


def test_the_workspace_of_a_deleted_issue_goes_and_that_of_another_stays(
    company: Company, owner: Person, ada: Agent
) -> None:
    issues = [build.issue(company, assignee=ada) for _ in range(2)]
    for issue in issues:
        write_file(actor=build.at_work(ada, issue), issue=issue, path="a.txt", text="x")
    deleted, kept = (place_of(issue).path for issue in issues)
    company.runs.update(ended_at=timezone.now(), state="cancelled")
    delete_issue(actor=owner, issue=Issue.objects.get(pk=issues[0].pk))
    tidy_up()
    assert not deleted.exists()
    assert (kept / "a.txt").read_text() == "x"
    assert sorted(path.name for path in kept.parent.iterdir()) == sorted(
        f"{issues[1].pk}{end}" for end in ("", ".lock", ".made")
    )


def test_what_a_rolled_back_transaction_stored_goes(company: Company) -> None:
    with transaction.atomic():
        blobs.store(b"rolled back")
        transaction.set_rollback(True)
    (blobs.folder() / "00").mkdir(exist_ok=True)
    (blobs.folder() / "00" / ".incoming-x").write_text("half")
    tidy_up()
    assert len(stored()) == 2
    age()
    tidy_up()
    assert stored() == set()


def test_bytes_that_are_stored_again_are_safe_for_another_day(issue: Issue, owner: Person) -> None:
    blobs.store(b"again")
    age()
    blobs.store(b"again")
    tidy_up()
    assert attach_file(actor=owner, issue=issue, name="a.txt", content=b"again").blob.size == 5
    assert stored() == {blobs.digest_of(b"again")}


@pytest.mark.parametrize("has_row", [True, False], ids=["with a row", "without a row"])
def test_bytes_that_somebody_is_about_to_refer_to_stay(
    issue: Issue, owner: Person, has_row: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep comes by between storing old bytes and writing down what they are for."""
    blobs.store(b"wanted")
    if not has_row:
        Blob.objects.all().delete()
    age()
    attached: list[Attachment] = []
    has_stored, go_on = threading.Event(), threading.Event()
    store = blobs.store

    def store_and_wait(content: bytes) -> Blob:
        blob = store(content)
        has_stored.set()
        go_on.wait(1)  # the sweep waits for us, on SQLite and on PostgreSQL alike
        return blob

    def attach() -> None:
        attached.append(attach_file(actor=owner, issue=issue, name="a.txt", content=b"wanted"))
        connection.close()

    monkeypatch.setattr(blobs, "store", store_and_wait)
    writer = threading.Thread(target=attach)
    writer.start()
    assert has_stored.wait(PATIENCE)
    tidy_up()
    go_on.set()
    writer.join(PATIENCE)
    assert blobs.read(attached[0].blob) == b"wanted"
    assert Blob.objects.filter(pk=attached[0].blob_id).exists()


def test_bytes_stored_while_the_sweep_removes_them_are_stored_anew(
    issue: Issue, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs.store(b"wanted")
    age()
    attached: list[Attachment] = []

    def attach() -> None:
        attached.append(attach_file(actor=owner, issue=issue, name="a.txt", content=b"wanted"))
        connection.close()

    writer = threading.Thread(target=attach)
    unlink = Path.unlink

    def unlink_slowly(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok)
        if path.name == blobs.digest_of(b"wanted") and not writer.ident:
            writer.start()
            time.sleep(0.5)

    monkeypatch.setattr(Path, "unlink", unlink_slowly)
    tidy_up()
    writer.join(PATIENCE)
    assert blobs.read(attached[0].blob) == b"wanted"


def test_a_workspace_whose_writer_was_killed_is_made(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker.home is not None
    monkeypatch.setattr("issues.services.files.make_after_write", lambda _place: None)
    write_file(actor=worker, issue=worker.home, path="a.txt", text="x")
    path = place_of(worker.home).path / "a.txt"
    make_left_behind()
    assert not path.exists()  # the writer may still be at it
    WorkspaceFile.objects.update(updated_at=timezone.now() - timedelta(minutes=2))
    make_left_behind()
    assert path.read_text() == "x"


def test_workspaces_that_a_restored_backup_left_out_are_made_again(worker: Worker, data_folder: Path) -> None:
    assert worker.home is not None
    write_file(actor=worker, issue=worker.home, path="a.txt", text="x")
    (data_folder / "workspaces").rename(data_folder / "elsewhere")
    WorkspaceFile.objects.update(updated_at=timezone.now() - timedelta(minutes=2))
    tidy_up()
    make_left_behind()
    assert (place_of(worker.home).path / "a.txt").read_text() == "x"


def test_what_is_none_of_ours_is_left_alone(data_folder: Path) -> None:
    for name in ("lost+found", "notes"):
        (data_folder / "workspaces" / name).mkdir(parents=True)
    tidy_up()
    assert len(list((data_folder / "workspaces").iterdir())) == 2


def test_sessions_links_and_answers_go_when_nobody_can_use_them_any_more() -> None:
    user, now = build.user(), timezone.now()
    for age in (timedelta(days=40), timedelta()):
        Session.objects.create(session_key=f"{age.days}", session_data="", expire_date=now - age + timedelta(hours=1))
        issue_login_link(user)
        LoginLink.objects.filter(pk=LoginLink.objects.latest("pk").pk).update(expires_at=now - age)
        answer = KeptAnswer.objects.create(caller="user 1", key=f"{age.days}", call_hash="")
        KeptAnswer.objects.filter(pk=answer.pk).update(made_at=now - age)
    tidy_up()
    assert [session.session_key for session in Session.objects.all()] == ["0"]
    assert LoginLink.objects.count() == KeptAnswer.objects.count() == 1
