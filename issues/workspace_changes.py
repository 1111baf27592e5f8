"""What somebody at work in a workspace has written there, read as carefully as it is written (`issues/folders.py`)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

from issues.folders import Obstacle, open_folder, read_plain
from issues.models import FileVersion
from issues.paths import check_path
from issues.refusals import Invalid
from issues.services.files import WRITE_BYTES
from issues.workspaces import Place

MOST_LOOKED_AT = 20_000
"""Names in a workspace: what builds and package managers leave is no end of files."""

MOST_BYTES = 64 * 1024 * 1024
"""Read at a time."""

_NOT_WORK = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders that programs fill for themselves; so do hidden ones."""

_QUOTES = frozenset("\"'`“‘«")
"""A name that begins with one would be taken without it."""


@dataclass(frozen=True, slots=True)
class Written:
    """Texts by their path, in its order, that are no file's newest version. `left` counts what was written besides and
    is not among them: over the limits, or no plain file of text."""

    texts: dict[str, str]
    left: int


def written_since(place: Place, moment: float, *, most: int) -> Written:
    """What was written in the workspace since then, in seconds since 1970, at most so many files. Raises OSError or
    Obstacle where the workspace cannot be read."""
    root = os.open(place.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return _read(root, place, moment, most)
    finally:
        os.close(root)


def _read(root: int, place: Place, moment: float, most: int) -> Written:
    known = _newest(place)
    texts: dict[str, str] = {}
    left, room = 0, MOST_BYTES
    for path in sorted(_changed(root, moment)):
        content = _content(root, path) if room > 0 and _may_be_written(path) else None
        room -= len(content or b"")
        if content is not None and known.get(path) == hashlib.sha256(content).hexdigest():
            continue
        text = _text(content)
        if text is None or len(texts) == most:
            left += 1
        else:
            texts[path] = text
    return Written(texts, left)


def _newest(place: Place) -> dict[str, str]:
    """The hash of each file's newest version, by its path."""
    versions = FileVersion.objects.filter(file__issue=place.issue_id).order_by("number")
    return dict(versions.values_list("file__path", "blob"))


def _changed(root: int, moment: float) -> Iterator[str]:
    """Paths of what is no folder, below the root, whose state has changed since. That time nobody can set."""
    looked_at, folders = 0, [""]
    while folders:
        folder = folders.pop()
        names = folder.split("/") if folder else []
        try:
            with open_folder(root, names) as handle, os.scandir(handle) as entries:
                for entry in entries:
                    looked_at += 1
                    if looked_at > MOST_LOOKED_AT:
                        return
                    if entry.name.startswith(".") or entry.name in _NOT_WORK:
                        continue
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(path)
                    elif entry.stat(follow_symlinks=False).st_ctime >= moment:
                        yield path
        except (OSError, Obstacle):  # it was moved or shut meanwhile
            continue


def _content(root: int, path: str) -> bytes | None:
    """The bytes of a plain file with one name that is not too large; None of anything else."""
    *folders, name = path.split("/")
    try:
        with open_folder(root, folders) as folder:
            return read_plain(folder, name, most=WRITE_BYTES)
    except (OSError, Obstacle):
        return None


def _may_be_written(path: str) -> bool:
    """Whether `/write-file` takes the path as it is. A name on disk may be any bytes."""
    try:
        return check_path(path) == path and path[0] not in _QUOTES
    except Invalid:
        return False


def _text(content: bytes | None) -> str | None:
    """None for what is no text."""
    try:
        text = content.decode() if content is not None else None
    except UnicodeDecodeError:
        return None
    return None if text is not None and "\x00" in text else text
