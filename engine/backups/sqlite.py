"""Copying an SQLite database while it is used, and putting another file in its place."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from engine.backups.archive import sync_folder
from engine.backups.databases import Contents, Unable, let_go, looking_at, read_contents
from engine.backups.manifest import DATABASES
from engine.backups.progress import Meter, Told, room_in

_PAGES = 2_560
"""Copied between two words on how far it has come: 10 MB."""

_BESIDE = ("-wal", "-shm", "-journal")
_KEPT = "trimus.sqlite3"
"""How the former database is called in the folder that it is put aside in, which is a data folder then."""


class SQLite:
    engine = "sqlite"

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self._connection = connection
        self._path = Path(connection.settings_dict["NAME"])
        self._loaded = self._path.with_name(f"{self._path.name}.restoring")

    def server_version(self) -> int:
        return 0

    def copy(self, folder: Path, told: Told) -> tuple[Path, Contents]:
        target = folder / DATABASES[self.engine]
        with _opened(self._path) as source, _opened(target) as copy:
            meter = Meter("Database", self._path.stat().st_size, told)
            # One read transaction around all steps: without it each step would begin anew when another process wrote
            # in between. Writers do not wait for it.
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            page = source.execute("PRAGMA page_size").fetchone()[0]
            source.backup(
                copy, pages=_PAGES, progress=lambda _, left, total: meter.reach(min(total - left, total) * page)
            )
            source.execute("ROLLBACK")
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, with nothing beside it
            return target, read_contents(lambda statement: copy.execute(statement).fetchall())

    def check_alone(self) -> None:
        let_go(self._connection)
        if self._path.exists():
            _settle(self._path)

    def load(self, copy: Path) -> str:
        self.discard()
        shutil.move(copy, self._loaded)
        self._loaded.chmod(0o600)
        if self._path.exists():
            shutil.copymode(self._path, self._loaded)
        # On Django's connection, which has the function that some constraints need.
        with looking_at(str(self._loaded)), self._connection.cursor() as cursor:
            cursor.execute("PRAGMA quick_check(1)")
            found = cursor.fetchone()[0]
        if found != "ok":
            raise Unable(f"The database in it is damaged: {found}")
        return str(self._loaded)

    def put_in_place(self, loaded: str, aside: Path | None) -> str:
        let_go(self._connection)
        _settle(Path(loaded))
        if self._path.exists():
            _settle(self._path)
        kept = _keep(self._path, aside) if aside is not None else ""
        for end in _BESIDE:  # of a file that is gone: they would be taken for the new one's
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        Path(loaded).replace(self._path)  # at one stroke: before it the former is whole, after it the new
        sync_folder(self._path.parent)
        return kept

    def left_behind(self) -> str:
        return ", ".join(map(str, [*filter(Path.exists, [self._loaded]), *self._twins()]))

    def discard(self) -> None:
        for twin in self._twins():
            shutil.rmtree(twin)
        for end in ("", *_BESIDE):
            self._loaded.with_name(self._loaded.name + end).unlink(missing_ok=True)

    def _twins(self) -> list[Path]:
        """Folders put aside by one who was killed before the stroke: the present database has a second name there, and
        must not be used by that, too."""
        kept = Path(settings.DATA_DIR).glob(f"before-*/{_KEPT}")
        return [path.parent for path in kept if self._path.exists() and path.samefile(self._path)]


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection beside Django's. What fails on it is Unable: a disk that is full, a file that is damaged."""
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise Unable(f"SQLite says of {path}: {error}; {room_in(path.parent)}.") from error


def _settle(path: Path) -> None:
    """Bring all that was written into the file itself. Unable if somebody else has it open."""
    with _opened(path) as database:
        try:
            mode = database.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            raise Unable(f"{path} is open in another process ({error}): end it first.") from error
    if mode != "delete":
        raise Unable(f"{path} is open in another process: end it first.")


def _keep(path: Path, aside: Path) -> str:
    kept = aside / _KEPT
    try:
        os.link(path, kept)
    except OSError:  # another disk, or one without hard links
        shutil.copy2(path, kept)
    sync_folder(aside)
    return str(kept)
