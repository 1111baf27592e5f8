"""The file that a backup is: a zip whose manifest names every member with its SHA-256."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from engine.backups.manifest import NAME, Manifest, Member, Unfit
from engine.backups.progress import Meter, Told

ASIDE = ".trimus-backup-"
"""How the folder begins in which a backup grows until it is whole."""

_CHUNK = 1024 * 1024
_LONGEST_MANIFEST = 256 * 1024 * 1024
"""Read at once, unlike all else: a million files are 150 MB of it."""

_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error)
"""What reading raises for a file that is no zip, not a whole one, or locked by a password."""

_FASTEST = 1  # the database shrinks to a third at the disk's speed; more effort gains a few percent


class ArchiveWriter:
    """Writes members one after the other, and the manifest last."""

    def __init__(self, file: IO[bytes]) -> None:
        self.members: dict[str, Member] = {}
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_FASTEST)

    def add(self, name: str, source: IO[bytes], meter: Meter, *, is_packed: bool = False) -> None:
        """Copy a file into the archive; one that is packed already as it is."""
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
        digest, size = hashlib.sha256(), 0
        with self._zip.open(entry, "w", force_zip64=True) as member:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                member.write(chunk)
                size += len(chunk)
                meter.add(len(chunk))
        self.members[name] = Member(size, digest.hexdigest())

    def abandon(self) -> None:
        """Let go of the file, which is to be removed."""
        with contextlib.suppress(OSError, ValueError):
            self._zip.close()

    def finish(self, manifest: Manifest) -> None:
        self._zip.writestr(NAME, manifest.written())
        self._zip.close()


class ArchiveReader:
    """A backup that was opened. Nothing in it is believed before `verify`."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
            if any(entry.compress_type not in _WAYS for entry in self._zip.infolist()):
                raise Unfit("It is packed in another way than backups are.")
            if self._zip.getinfo(NAME).file_size > _LONGEST_MANIFEST:
                raise Unfit("Its manifest is too long to be one.")
            self.manifest = Manifest.read(self._zip.read(NAME))
        except KeyError:
            raise Unfit("It has no manifest: it is no backup of Trimus.") from None
        except _DAMAGED as error:
            raise Unfit(f"It is no backup, or not a whole one ({error}).") from error

    def verify(self, told: Told) -> None:
        """Read every member and compare it with the manifest. Unfit names the first that differs."""
        there = self._zip.namelist()
        if sorted(there) != sorted([*self.manifest.members, NAME]):
            raise Unfit("What it holds is not what its manifest says.")
        total = sum(member.size for member in self.manifest.members.values())
        meter = Meter("Verified", total, told)
        for name, member in self.manifest.members.items():
            # The length first: what swells without end is not read to its end.
            if self._zip.getinfo(name).file_size != member.size or self._measured(name, meter) != member:
                raise Unfit(f"“{name}” in it is damaged.")

    def extract(self, name: str, target: Path) -> None:
        """Write a member to the disk, whole before it returns. OSError if the disk does not take it."""
        with self._zip.open(name) as source, target.open("xb") as file:
            shutil.copyfileobj(source, file, _CHUNK)
            file.flush()
            os.fsync(file.fileno())

    def _measured(self, name: str, meter: Meter) -> Member:
        digest, size = hashlib.sha256(), 0
        try:
            with self._zip.open(name) as source:
                while chunk := source.read(_CHUNK):
                    digest.update(chunk)
                    size += len(chunk)
                    meter.add(len(chunk))
        except _DAMAGED as error:
            raise Unfit(f"“{name}” in it is damaged ({error}).") from error
        return Member(size, digest.hexdigest())


@contextmanager
def growing_beside(target: Path) -> Iterator[Path]:
    """A folder beside the target, on the same disk, that only this process uses and that goes at the end. What killed
    ones left there goes first."""
    _sweep(target.parent)
    folder, lock = _own_folder(target.parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def put_in_place(whole: Path, target: Path) -> None:
    """Give a whole file its final name, unless something has it: FileExistsError."""
    try:
        os.link(whole, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        # A disk without hard links, such as a memory stick's.
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        whole.rename(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make names that were given in the folder outlast a power cut, where the file system can. It never fails: what was
    named is named."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _own_folder(parent: Path) -> tuple[Path, int]:
    """A new folder of mode 0700, and the lock by which others see that it is in use."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=ASIDE, dir=parent))
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Who swept before it was locked took it for a killed one's.
        if folder.exists():
            return folder, lock
        os.close(lock)


def _sweep(parent: Path) -> None:
    for left in parent.glob(f"{ASIDE}*"):
        try:
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        except BlockingIOError:
            continue  # another backup is at it
        finally:
            os.close(lock)
