"""What backup and restore ask of a database, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from agents.models import Agent, Run
from engine.backups.progress import Told
from issues.models import Activity, Blob, Comment, Company, Issue

_COUNTED = (Company, Agent, Issue, Comment, Run, Activity)

Ask = Callable[[str], Sequence[tuple[Any, ...]]]
"""Takes SQL, gives the rows."""


class Unable(Exception):
    """This machine cannot do it now. The message says what is missing, and what mends it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a copy of the database holds, read from that very state."""

    migrations: list[str]
    blobs: list[str]  # digests
    counts: dict[str, int]


class Keeper(Protocol):
    """One kind of database, with the installation's own before it."""

    engine: str

    def server_version(self) -> int:
        """The server's major version; 0 where there is no server."""
        ...

    def check_alone(self) -> None:
        """Unable if anybody else has the installation's database open."""
        ...

    def copy(self, folder: Path, told: Told) -> tuple[Path, Contents]:
        """Write the database as it is at one moment to a file in the folder, while others go on writing. Unable."""
        ...

    def load(self, copy: Path) -> str:
        """Make another database of the copy beside the present one; the name it has there. Unable."""
        ...

    def put_in_place(self, loaded: str, aside: Path | None) -> str:
        """Let the loaded one be the installation's at one stroke, and keep the former: in the folder `aside`, or under
        that one's name. What it is called there. Without `aside` there is nothing in it to keep. Unable if somebody has
        it open."""
        ...

    def left_behind(self) -> str:
        """What was loaded and not put in place, now or by one who was killed; empty: nothing."""
        ...

    def discard(self) -> None:
        """Remove what was left behind."""
        ...


def keeper() -> Keeper:
    """For the database of this installation."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "sqlite":
        from engine.backups.sqlite import SQLite

        return SQLite(connection)
    from engine.backups.postgresql import PostgreSQL

    return PostgreSQL(connection)


def read_contents(ask: Ask) -> Contents:
    # Names of tables are the models' own.
    migrations = MigrationRecorder.Migration._meta.db_table
    return Contents(
        migrations=[f"{app}.{name}" for app, name in ask(f"SELECT app, name FROM {migrations} ORDER BY id")],  # noqa: S608
        blobs=[digest for (digest,) in ask(f"SELECT sha256 FROM {Blob._meta.db_table} ORDER BY sha256")],  # noqa: S608
        counts={
            str(model._meta.verbose_name_plural): ask(f"SELECT count(*) FROM {model._meta.db_table}")[0][0]  # noqa: S608
            for model in _COUNTED
        },
    )


@contextmanager
def looking_at(name: str) -> Iterator[None]:
    """Inside, the application's database is the one of that name. For a process of one thread."""
    connection = connections[DEFAULT_DB_ALIAS]
    former = connection.settings_dict["NAME"]
    try:
        _turn_to(connection, name)
        yield
    finally:
        _turn_to(connection, former)


def let_go(connection: BaseDatabaseWrapper) -> None:
    """Close every connection that this process has to it."""
    connection.close()
    if getattr(connection, "pool", None):
        connection.close_pool()  # type: ignore[attr-defined]


def _turn_to(connection: BaseDatabaseWrapper, name: str) -> None:
    let_go(connection)
    connection.settings_dict["NAME"] = name
