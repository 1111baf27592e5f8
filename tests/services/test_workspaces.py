"""The folder on disk is what the rows say, whoever else writes into it, and nothing is written outside of it."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from agents.models import Agent
from issues import blobs, workspaces
from issues.actors import Worker
from issues.effects import unit
from issues.folders import Obstacle, open_folder, put_file, remove_folder
from issues.models import Company, Issue, WorkspaceFile
from issues.services.files import write_file
from issues.workspaces import make_workspace, place_of
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

SWAPS = int(os.environ.get("TRIMUS_SWAPS", "3000"))


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def worker(company: Company, ada: Agent) -> Worker:
    return build.at_work(ada, build.issue(company, assignee=ada))


@pytest.fixture
def home(worker: Worker) -> Issue:
    assert worker.home is not None
    return worker.home


@pytest.fixture
def folder(home: Issue) -> Path:
    return place_of(home).path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A place that nothing may be written to, with a file in it."""
    place = tmp_path / "outside"
    place.mkdir()
    (place / "victim").write_text("untouched")
    return place


def untouched(outside: Path) -> bool:
    return [path.name for path in outside.iterdir()] == ["victim"] and (outside / "victim").read_text() == "untouched"


def row(home: Issue, path: str) -> WorkspaceFile:
    return WorkspaceFile.objects.get(issue=home, path=path)


class TestMaking:
    def test_what_is_written_lies_there_after_the_commit(self, worker: Worker, home: Issue, folder: Path) -> None:
        with unit():
            write_file(actor=worker, issue=home, path="docs/a/plan.md", text="one")
            assert not folder.exists()
        assert (folder / "docs/a/plan.md").read_text() == "one"
        write_file(actor=worker, issue=home, path="docs/a/plan.md", text="two")
        assert (folder / "docs/a/plan.md").read_text() == "two"
        assert row(home, "docs/a/plan.md").is_made
        assert [path.name for path in (folder / "docs/a").iterdir()] == ["plan.md"]

    def test_what_is_rolled_back_leaves_nothing(self, worker: Worker, home: Issue, folder: Path) -> None:
        def write_and_fail() -> None:
            with unit():
                write_file(actor=worker, issue=home, path="a.txt", text="x")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            write_and_fail()
        assert not folder.exists()

    def test_a_file_is_never_executable(self, worker: Worker, home: Issue, folder: Path) -> None:
        before = os.umask(0)
        try:
            write_file(actor=worker, issue=home, path="run.sh", text="#!/bin/sh")
        finally:
            os.umask(before)
        assert stat.S_IMODE((folder / "run.sh").stat().st_mode) & 0o133 == 0

    def test_a_file_whose_row_is_gone_is_removed_and_what_others_made_stays(
        self, worker: Worker, home: Issue, folder: Path
    ) -> None:
        for path in ("docs/a.txt", "docs/b.txt"):
            write_file(actor=worker, issue=home, path=path, text="x")
        (folder / "docs" / "own.txt").write_text("made by a program")
        row(home, "docs/a.txt").delete()
        make_workspace(place_of(home))
        assert sorted(path.name for path in (folder / "docs").iterdir()) == ["b.txt", "own.txt"]

    def test_a_disk_that_fails_does_not_fail_the_write_and_the_next_making_mends_it(
        self, worker: Worker, home: Issue, folder: Path, data_folder: Path
    ) -> None:
        data_folder.mkdir()
        (data_folder / "workspaces").write_text("in the way")
        write_file(actor=worker, issue=home, path="a.txt", text="one")
        assert row(home, "a.txt").unmade_because == "File exists"
        (data_folder / "workspaces").unlink()
        make_workspace(place_of(home))
        assert (folder / "a.txt").read_text() == "one"
        assert (row(home, "a.txt").is_made, row(home, "a.txt").unmade_because) == (True, "")

    def test_what_a_killed_writer_left_goes_with_the_next_write(
        self, worker: Worker, home: Issue, folder: Path
    ) -> None:
        write_file(actor=worker, issue=home, path="a.txt", text="one")

        class Killed(BaseException):
            pass

        def killed(*_: object, **__: object) -> None:
            raise Killed

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("issues.folders.os.rename", killed)
            patch.setattr("issues.folders.os.unlink", lambda *_, **__: None)
            with pytest.raises(Killed):
                write_file(actor=worker, issue=home, path="a.txt", text="two")
        assert len(list(folder.iterdir())) == 2
        make_workspace(place_of(home))
        assert [path.name for path in folder.iterdir()] == ["a.txt"]
        assert (folder / "a.txt").read_text() == "two"

    def test_bytes_that_are_missing_are_told(self, worker: Worker, home: Issue) -> None:
        version = write_file(actor=worker, issue=home, path="a.txt", text="one")
        WorkspaceFile.objects.update(is_made=False)
        blobs.path_of(version.blob_id).unlink()
        make_workspace(place_of(home))
        assert row(home, "a.txt").unmade_because == "No such file or directory"

    def test_an_old_version_is_not_taken_for_the_newest(self, worker: Worker, home: Issue, folder: Path) -> None:
        """Somebody writes the next version while this one is on its way to the disk."""
        original = workspaces.put_file

        def slowly(at: int, name: str, content: bytes) -> None:
            if content == b"one":
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("issues.services.files.make_after_write", lambda _place: None)
                    write_file(actor=worker, issue=home, path="a.txt", text="two")
            original(at, name, content)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("issues.workspaces.put_file", slowly)
            write_file(actor=worker, issue=home, path="a.txt", text="one")
        assert not row(home, "a.txt").is_made
        make_workspace(place_of(home))
        assert (folder / "a.txt").read_text() == "two"


def link_folder(at: Path, outside: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.symlink_to(outside, target_is_directory=True)


def link_file(at: Path, outside: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.symlink_to(outside / "victim")


def hard_link(at: Path, outside: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.hardlink_to(outside / "victim")


def pipe(at: Path, _outside: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(at)


def listening(at: Path, _outside: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.touch()
    at.unlink()
    # Its address has little room, so it is bound from beside it.
    here = Path.cwd()
    os.chdir(at.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(at.name)
    finally:
        os.chdir(here)


def folder_there(at: Path, _outside: Path) -> None:
    at.mkdir(parents=True)


def file_there(at: Path, _outside: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text("x")


@pytest.mark.parametrize(
    ("where", "trap", "reason"),
    [
        ("", link_folder, "is no folder"),
        ("docs", link_folder, "“docs” is no folder"),
        ("docs/deep", link_folder, "“deep” is no folder"),
        ("docs", file_there, "“docs” is no folder"),
        ("docs/deep/victim", link_file, "“victim” is a link"),
        ("docs/deep/victim", link_folder, "“victim” is a link"),
        ("docs/deep/victim", hard_link, "has another name elsewhere (a hard link)"),
        ("docs/deep/victim", pipe, "“victim” is a device, pipe or socket"),
        ("docs/deep/victim", listening, "“victim” is a device, pipe or socket"),
        ("docs/deep/victim", folder_there, "“victim” is a folder"),
    ],
)
def test_what_lies_in_the_way_is_told_and_neither_followed_nor_replaced(
    where: str,
    trap: Callable[[Path, Path], None],
    reason: str,
    worker: Worker,
    home: Issue,
    folder: Path,
    outside: Path,
) -> None:
    at = folder / where if where else folder
    trap(at, outside)
    before = at.lstat()
    version = write_file(actor=worker, issue=home, path="docs/deep/victim", text="written by an agent")
    assert blobs.read(version.blob) == b"written by an agent"
    assert untouched(outside)
    assert reason in row(home, "docs/deep/victim").unmade_because
    assert (at.lstat().st_mode, at.lstat().st_ino) == (before.st_mode, before.st_ino)


@pytest.fixture
def swapping(folder: Path, outside: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that swaps the folder `docs` for a link to the place outside and back, as fast as it can."""
    (folder / "docs").mkdir(parents=True)
    code = """
import contextlib, os, sys
folder, outside = sys.argv[1:]
os.chdir(folder)
os.symlink(outside, "link")
print("swapping", flush=True)
while True:
    with contextlib.suppress(OSError):
        os.rename("docs", "real")
        os.rename("link", "docs")
        os.rename("docs", "link")
        os.rename("real", "docs")
"""
    command = [sys.executable, "-c", code, str(folder), str(outside)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_folder_swapped_for_a_link_while_we_write_leads_nowhere(
    swapping: subprocess.Popen[bytes], folder: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("issues.folders.os.fsync", lambda _: None)  # so that there are more tries
    written = refused = 0
    with_workspace = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while written + refused < SWAPS or not (written and refused):
            try:
                with open_folder(with_workspace, ["docs"]) as docs:
                    put_file(docs, "victim", b"written by an agent")
                written += 1
            except (Obstacle, FileNotFoundError):
                refused += 1
    finally:
        os.close(with_workspace)
    assert swapping.poll() is None
    assert untouched(outside)


def test_a_file_swapped_for_a_link_while_we_write_is_not_written_through(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("issues.folders.os.fsync", lambda _: None)
    place = tmp_path / "place"
    place.mkdir()
    code = """
import contextlib, os, sys
os.chdir(sys.argv[1])
print("swapping", flush=True)
number = 0
while True:
    number += 1
    for name in os.listdir("."):
        with contextlib.suppress(OSError):
            (os.symlink if number % 2 else os.link)(sys.argv[2], "trap")
            os.rename("trap", name)
"""
    command = [sys.executable, "-c", code, str(place), str(outside / "victim")]
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    written = refused = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while written + refused < SWAPS or not (written and refused):
            try:
                put_file(folder, "a.txt", b"written by an agent")
                written += 1
            except (Obstacle, FileNotFoundError, FileExistsError):
                refused += 1
                (place / "a.txt").unlink(missing_ok=True)
        assert process.poll() is None
        process.kill()
    os.close(folder)
    assert untouched(outside)


def test_a_tree_made_to_break_its_removal_is_removed_and_what_it_links_to_is_not(tmp_path: Path, outside: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(3_000):  # deeper than a stack, and longer than a path may be
        os.mkdir("x", dir_fd=at)
        os.symlink(outside, "link", dir_fd=at)
        below = os.open("x", os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    above = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    remove_folder(above, "top")
    os.close(above)
    assert not top.exists()
    assert untouched(outside)
