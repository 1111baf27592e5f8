"""Migrated databases, and an installation with the demo company, of which tests take copies: making them takes seconds,
so one process of a run does it once for all of them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests import machine

ROOT = Path(__file__).resolve().parent.parent

FOLDER = "TRIMUS_TEST_TEMPLATES"
"""Names the run's folder to the processes that it starts."""


def begin() -> None:
    """Before any process of the run is started."""
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="trimus-templates-")


def end() -> None:
    """Take away what was made."""
    folder = Path(os.environ.pop(FOLDER))
    made = folder / "postgres"
    if made.exists():
        _drop(made.read_text())
    shutil.rmtree(folder, ignore_errors=True)


def migrate(folder: Path, database_url: str) -> None:
    """As an installation does it that has its data in this folder."""
    _manage(folder, database_url, "migrate", "--verbosity", "0")


def copy_sqlite(target: Path) -> None:
    """A fresh SQLite database, as this file."""
    with _alone() as folder:
        _copy_sqlite(folder, target)


def copy_demo(target: Path) -> None:
    """The data of an installation that has the demo company and nothing else, as this folder."""
    with _alone() as folder:
        whole = folder / "demo"
        if not whole.exists():
            _copy_sqlite(folder, folder / "making" / "trimus.sqlite3")
            _manage(folder / "making", "", "demo")
            (folder / "making").rename(whole)
    shutil.copytree(whole, target)


def postgres() -> str:
    """The name of the one that `CREATE DATABASE … TEMPLATE` copies."""
    with _alone() as folder:
        made = folder / "postgres"
        if not made.exists():
            name = f"trimus_template_{uuid.uuid4().hex}"
            _administrate(f'CREATE DATABASE "{name}"')
            try:
                migrate(folder, _address_of(name))
            except BaseException:
                _drop(name)
                raise
            made.write_text(name)
        return made.read_text()


@contextlib.contextmanager
def fresh_postgres() -> Iterator[str]:
    """The address of a copy, which is dropped afterwards."""
    name = f"trimus_test_{uuid.uuid4().hex}"
    _administrate(f'CREATE DATABASE "{name}" TEMPLATE "{postgres()}"')
    try:
        yield _address_of(name)
    finally:
        _drop(name)


def _copy_sqlite(folder: Path, target: Path) -> None:
    whole = folder / "migrated" / "trimus.sqlite3"
    if not whole.exists():
        migrate(folder / "migrating", "")
        (folder / "migrating").rename(whole.parent)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(whole, target)


def _manage(data: Path, database_url: str, *arguments: str) -> None:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "trimus.settings",
        "TRIMUS_DATA_DIR": str(data),
        "DATABASE_URL": database_url,
    }
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, env=environment, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def _alone() -> Iterator[Path]:
    """The run's folder, while no other process of the run looks at it."""
    folder = Path(os.environ[FOLDER])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _server() -> str:
    server = machine.postgres_url()
    assert server is not None
    return server


def _address_of(name: str) -> str:
    return f"{_server().rpartition('/')[0]}/{name}"


def _administrate(statement: str) -> None:
    with psycopg.connect(machine.libpq(_server()), autocommit=True) as connection:
        connection.execute(statement)


def _drop(name: str) -> None:
    _administrate(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
