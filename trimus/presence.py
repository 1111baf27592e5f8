"""Whether this installation runs: web, worker and beat each hold a shared lock in the data folder as long as they live,
and who puts another database in its place holds it alone. A process that is killed lets go of it, too."""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

log = logging.getLogger(__name__)

RESTORING = "A backup is being restored into this installation: start it when that has ended."

_held: int | None = None


class Running(Exception):
    """A process of the installation runs."""


def hold() -> None:
    """Count as running until this process ends. SystemExit, with what is to be done, while a backup is restored."""
    global _held
    if _held is not None:
        return
    try:
        handle = _open()
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit(RESTORING) from None
    except OSError as error:  # a file system that knows no locks: nothing else depends on this one
        log.warning("that this process runs is not noted in the data folder: %s", error)
        return
    _held = handle


def let_go() -> None:
    """Count as running no longer."""
    global _held
    if _held is not None:
        os.close(_held)
        _held = None


@contextmanager
def counted() -> Iterator[None]:
    """Inside, this process counts as running: for a command that must not meet a restore. SystemExit as `hold`."""
    is_counted = _held is not None
    hold()
    try:
        yield
    finally:
        if not is_counted:
            let_go()


@contextmanager
def alone() -> Iterator[None]:
    """Inside, no process of the installation runs, and none can start. Raises Running."""
    handle = _open()
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Running from None
        yield
    finally:
        os.close(handle)


def other_owner() -> str | None:
    """The user as whom the installation has run, where this one is the superuser and that was another."""
    path = _path()
    if os.geteuid() != 0 or not path.exists() or path.stat().st_uid == 0:
        return None
    try:
        return path.owner()
    except KeyError:  # one without a name
        return f"#{path.stat().st_uid}"


def _path() -> Path:
    return Path(settings.DATA_DIR) / "running.lock"


def _open() -> int:
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
