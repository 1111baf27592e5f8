"""The workspace of an issue on disk: a folder made from the rows, which stay the truth.

It is made after the commit, so a rolled-back action leaves no file; a disk that fails never fails the write, which the
sweep makes up for. Agents with a command line work in it, and what they do there is not trusted: see
`issues/folders.py`. Beside the folder, out of their reach, lie a lock and the list of the paths that were made: what
stands on it and has no row any more is removed, what agents made themselves is left.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.models import OuterRef, QuerySet, Subquery

from issues import blobs
from issues.folders import Obstacle, open_folder, put_file, read_plain, remove_file, remove_folder
from issues.models import FileVersion, Issue, WorkspaceFile

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an issue's workspace lies. By ids: a key may one day be another company's."""

    company_id: int
    issue_id: int

    @property
    def path(self) -> Path:
        return folder() / str(self.company_id) / str(self.issue_id)


def folder() -> Path:
    return Path(settings.DATA_DIR) / "workspaces"


def place_of(issue: Issue) -> Place:
    return Place(issue.company_id, issue.pk)


def make_workspace(place: Place) -> None:
    """Bring the folder to what the rows say, and note of each file whether it lies there now.

    Whoever makes one workspace waits for whoever is at it, and then reads the rows, so the last one leaves the newest.
    """
    try:
        with _held(place) as company:
            _make(place, company)
    except (OSError, Obstacle) as error:
        log.warning("workspace %s was not made: %s", place.path, error)
        _unmade(place).update(unmade_because=_reason(error))


def make_for_work(place: Place) -> Path:
    """The folder, there even without a file, and as the rows say as far as that can be. Raises OSError or Obstacle when
    there can be none."""
    make_workspace(place)
    with _held(place) as company, open_folder(company, [str(place.issue_id)], make=True):
        return place.path


def fill_folder(place: Place, folder: Sequence[str], files: Mapping[str, bytes]) -> None:
    """Make one folder of the workspace hold these files and nothing else, by their paths in it. The workspace must be
    there; what is in the folder is nobody's file. Raises OSError, or Obstacle where an agent has put something else."""
    *above, name = folder
    with _held(place) as company, open_folder(company, [str(place.issue_id), *above], make=True) as parent:
        remove_folder(parent, name)
        for path, content in files.items():
            *folders, last = path.split("/")
            with open_folder(parent, [name, *folders], make=True) as at:
                put_file(at, last, content)


def occupy(place: Place) -> int | None:
    """Take the workspace for one program: a descriptor that holds it until the last copy of it is closed, also by
    processes that were given one. None while another has it. The folder of the company must be there."""
    lock = os.open(
        place.path.parent / f"{place.issue_id}.busy", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except BaseException:
        os.close(lock)
        raise
    return lock


def make_after_write(place: Place) -> None:
    """Make it, unless somebody has: each file that a reply writes asks for it."""
    if _unmade(place).exists():
        make_workspace(place)


def _make(place: Place, company: int) -> None:
    name = str(place.issue_id)
    files = WorkspaceFile.objects.filter(issue=place.issue_id)
    wanted = frozenset(files.values_list("path", flat=True))
    made = _read_list(company, name)
    if not wanted and not made:
        return
    if not wanted <= made:  # before the files: one that stands on no list would stay for ever
        _write_list(company, name, wanted | made)
    with open_folder(company, [name], make=True) as workspace:
        for path in made - wanted:
            _remove(workspace, path)
        _write_unmade(place, workspace)
    if made - wanted:
        _write_list(company, name, wanted)


def _write_unmade(place: Place, workspace: int) -> None:
    versions = list(_newest_unmade(place))
    if not versions:
        return
    why = {version.file_id: _write(workspace, version) for version in versions}
    # A version written meanwhile is not made, whatever became of the one before.
    current = WorkspaceFile.objects.exclude(versions__pk__gt=max(version.pk for version in versions))
    current.filter(pk__in=[file for file, reason in why.items() if not reason]).update(is_made=True, unmade_because="")
    for file, reason in why.items():
        if reason:
            log.warning("file %d was not written to %s: %s", file, place.path, reason)
            current.filter(pk=file).update(unmade_because=reason)


def _newest_unmade(place: Place) -> Iterator[FileVersion]:
    newest = FileVersion.objects.filter(file=OuterRef("pk")).order_by("-number").values("pk")[:1]
    ids = _unmade(place).values(newest=Subquery(newest))
    return FileVersion.objects.filter(pk__in=ids).select_related("file", "blob").iterator()


def _unmade(place: Place) -> QuerySet[WorkspaceFile]:
    return WorkspaceFile.objects.filter(issue=place.issue_id, is_made=False)


def _write(workspace: int, version: FileVersion) -> str:
    """Why the file could not be written; empty if it was."""
    *folders, name = version.file.path.split("/")
    try:
        content = blobs.read(version.blob)
        with open_folder(workspace, folders, make=True) as folder:
            if not _is_there(folder, name, content):
                put_file(folder, name, content)
    except (OSError, Obstacle) as error:
        return _reason(error)
    return ""


def _is_there(folder: int, name: str, content: bytes) -> bool:
    """Whether it lies there as it is to be: what an agent wrote itself keeps its time and rights."""
    try:
        return read_plain(folder, name, most=len(content)) == content
    except OSError:
        return False


def _remove(workspace: int, path: str) -> None:
    *folders, name = path.split("/")
    try:
        with open_folder(workspace, folders) as folder:
            remove_file(folder, name)
    except FileNotFoundError:
        return
    except (OSError, Obstacle) as error:
        log.warning("a file that was removed stays on disk: %s", error)


def _reason(error: OSError | Obstacle) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return said[:200]


# --- Beside the folder


@contextlib.contextmanager
def _held(place: Place) -> Iterator[int]:
    """The company's folder, with the workspace's lock. Where all workspaces lie may be a link: that is the
    operator's."""
    folder().mkdir(parents=True, exist_ok=True)
    root = os.open(folder(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with open_folder(root, [str(place.company_id)], make=True) as company:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            lock = os.open(f"{place.issue_id}.lock", flags, 0o600, dir_fd=company)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield company
            finally:
                os.close(lock)
    finally:
        os.close(root)


def _read_list(company: int, name: str) -> frozenset[str]:
    """The paths that were made. A list that cannot be read is an empty one: then what was removed stays on disk."""
    try:
        handle = os.open(f"{name}.made", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=company)
        with os.fdopen(handle, encoding="utf-8") as file:
            return frozenset(json.load(file))
    except (FileNotFoundError, ValueError):
        return frozenset()


def _write_list(company: int, name: str, paths: frozenset[str]) -> None:
    put_file(company, f"{name}.made", json.dumps(sorted(paths)).encode())
