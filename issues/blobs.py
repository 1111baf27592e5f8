"""Bytes on disk, each stored once under its SHA-256 in the data directory.

Row and file of one digest are only ever made or removed while the row is held, so neither a writer nor the sweep
(`issues/tidying.py`) can leave a row that points at nothing.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from typing import IO

from django.conf import settings
from django.utils import timezone

from issues.folders import INCOMING
from issues.models import Blob
from issues.refusals import NoRoom, NotFound

log = logging.getLogger(__name__)

KEPT_FOR_SURE = timedelta(days=1)
"""Bytes that nothing refers to lie for so long: whoever stores them has not written down yet what they are for."""

TOUCHED_AFTER = timedelta(hours=1)
"""Storing the same bytes again notes the time, but not on every write: writers of one content would wait for each
other. Far below `KEPT_FOR_SURE`."""

_rehearsing: ContextVar[bool] = ContextVar("rehearsing", default=False)

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@contextmanager
def rehearsal() -> Iterator[None]:
    """Inside, rows are written and no bytes: for a transaction that will be taken back, which would leave them."""
    token = _rehearsing.set(True)
    try:
        yield
    finally:
        _rehearsing.reset(token)


def store(content: bytes) -> Blob:
    """Keep the bytes and answer their row. Inside the transaction that refers to them.

    The file is complete and under its final name before the row is committed, so a row never points at half a file;
    a rolled-back transaction leaves at most an unreferenced file. NoRoom if the disk does not take it.
    """
    blob = _hold(digest_of(content), len(content))
    path = path_of(blob.sha256)
    if not _rehearsing.get() and not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_aside_and_rename(path, content)
        except OSError as error:
            log.exception("the bytes of a file could not be stored")
            reason = "the disk is full" if error.errno in _FULL else (error.strerror or str(error))
            raise NoRoom(
                f"The file was not stored: {reason}.", "Tell whoever runs this installation, then try again."
            ) from error
    return blob


@contextmanager
def kept_whole() -> Iterator[None]:
    """Inside, no process of this data folder removes bytes: for a backup, whose rows may name what goes meanwhile. It
    waits for a removal that has begun."""
    with _removals(fcntl.LOCK_SH):
        yield


@contextmanager
def may_remove() -> Iterator[bool]:
    """Whether bytes may be removed now; inside, no backup begins."""
    with _removals(fcntl.LOCK_EX | fcntl.LOCK_NB) as is_held:
        yield is_held


def read(blob: Blob) -> bytes:
    return path_of(blob.sha256).read_bytes()


def open_bytes(digest: str) -> IO[bytes]:
    """The bytes, to be sent. NotFound where the disk has lost them."""
    try:
        return path_of(digest).open("rb")
    except OSError as error:
        log.error("the bytes %s cannot be read: %s", digest, error)
        raise NotFound(
            "The bytes of this file cannot be read.", "Whoever runs this installation finds why in its log."
        ) from error


def folder() -> Path:
    return Path(settings.DATA_DIR) / "blobs"


def path_of(digest: str) -> Path:
    return folder() / digest[:2] / digest


def _hold(digest: str, size: int) -> Blob:
    """The row, safe from the sweep until the transaction ends: fresh, or written to and so held."""
    now = timezone.now()
    found = Blob.objects.filter(pk=digest).first()
    if found is not None:
        is_fresh = found.kept_at > now - TOUCHED_AFTER
        if is_fresh or Blob.objects.filter(pk=digest).update(kept_at=now):
            return found
    return Blob.objects.get_or_create(sha256=digest, defaults={"size": size})[0]


@contextmanager
def _removals(how: int) -> Iterator[bool]:
    """A lock between processes, and hosts that share the folder. It ends with whoever holds it; False if it is
    another's and was not to be waited for."""
    path = folder().with_name("blobs.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, how)
            is_held = True
        except BlockingIOError:
            is_held = False
        yield is_held
    finally:
        os.close(handle)


def _write_aside_and_rename(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=INCOMING)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
