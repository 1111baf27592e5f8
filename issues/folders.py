"""Folders into which somebody else may write at the same time: reached name by name, and no link is followed.

A path is looked up by the system in one go, and whoever can write there may swap a folder for a link to another place
while it does. So each folder is opened below the one before, by its descriptor, and what is done is done in the last
of them, wherever its name leads by then.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator, Sequence

INCOMING = ".incoming-"
"""What the names of files begin with that are not whole yet."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READABLE_BY_ALL = 0o644  # and never executable


class Obstacle(Exception):
    """Something lies there that is neither followed nor opened nor replaced. The message says what."""


@contextlib.contextmanager
def open_folder(at: int, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder that `names` lead to from the folder `at`; `make` makes those that are missing."""
    folder = os.dup(at)
    try:
        for name in names:
            below = _open_below(folder, name, make=make)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def put_file(folder: int, name: str, content: bytes) -> None:
    """Write the file whole or not at all: aside in the same folder, then renamed. One writer of a name at a time: the
    name aside is always the same, so that what a killed one left goes with the next try."""
    check_plain(folder, name)
    aside = INCOMING + hashlib.sha256(name.encode()).hexdigest()[:32]
    remove_file(folder, aside)
    handle = os.open(aside, _NEW_FILE, _READABLE_BY_ALL, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            written = os.fstat(file.fileno())
        os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside, dir_fd=folder)
        raise
    there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not os.path.samestat(written, there) or there.st_nlink > 1:
        raise Obstacle(f"“{name}” was changed while it was written")


def read_plain(folder: int, name: str, *, most: int) -> bytes | None:
    """What is in a plain file; None for one with another name elsewhere or with more than `most` bytes, and for what is
    no file. Raises OSError, for a link too."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            return None
        content = file.read(most + 1)
    return content if len(content) <= most else None


def remove_file(folder: int, name: str) -> None:
    """Remove what has the name, if anything has; what a link leads to stays."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        raise Obstacle(f"“{name}” cannot be removed") from None


def check_plain(folder: int, name: str) -> None:
    """Raise Obstacle unless the name is free, or a plain file's only one."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise Obstacle(f"“{name}” is a link")
    if stat.S_ISDIR(found.st_mode):
        raise Obstacle(f"“{name}” is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise Obstacle(f"“{name}” is a device, pipe or socket")
    if found.st_nlink > 1:
        raise Obstacle(f"“{name}” has another name elsewhere (a hard link)")


def remove_folder(at: int, name: str) -> None:
    """Remove the folder with all that is in it. Folders in folders are first moved up, so that the deepest tree takes
    neither a deep stack nor many descriptors."""
    try:
        with open_folder(at, [name]) as folder:
            while inner := _folders_in(folder):
                for one in inner:
                    _dissolve(folder, one)
        os.rmdir(name, dir_fd=at)
    except FileNotFoundError:
        return


def _open_below(folder: int, name: str, *, make: bool) -> int:
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=folder)
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except NotADirectoryError:  # a link, too: it is not followed to see
        raise Obstacle(f"“{name}” is no folder") from None


def _folders_in(folder: int) -> list[str]:
    """The names of folders in it; everything else in it is removed."""
    inner = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.name)
            else:
                remove_file(folder, entry.name)
    return inner


def _dissolve(folder: int, name: str) -> None:
    """Move the folders in a folder beside it, and remove it with the rest."""
    with open_folder(folder, [name]) as below:
        for inner in _folders_in(below):
            os.rename(inner, INCOMING + secrets.token_hex(8), src_dir_fd=below, dst_dir_fd=folder)
    os.rmdir(name, dir_fd=folder)
