"""Copying a PostgreSQL database while it is used, and putting another in its place, with the server's own tools."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.client import DatabaseClient

from engine.backups.databases import Contents, Unable, let_go, read_contents
from engine.backups.manifest import DATABASES
from engine.backups.progress import Told, in_words

_LOOK_SECONDS = 5.0
_LEAVING_SECONDS = 5.0  # that a process which has ended, this one's connections too, may still be seen on the server
_POLL_SECONDS = 0.1
_OF_NOBODY = ("--no-owner", "--no-privileges")  # roles have other names on another server
_LONGEST_NAME = 63  # of a database
_OTHERS = """
    SELECT DISTINCT coalesce(host(client_addr), 'this host') FROM pg_stat_activity
    WHERE datname = %s AND usesysid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
"""
"""Of another role's sessions one sees little more than the role; the server's own, such as a vacuum, have none."""


class PostgreSQL:
    engine = "postgresql"

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self._connection = connection
        self._name = str(connection.settings_dict["NAME"])
        self._loading = _named(self._name, "restoring")

    def server_version(self) -> int:
        with self._connection.cursor() as cursor:
            cursor.execute("SHOW server_version_num")
            return int(cursor.fetchone()[0]) // 10_000

    def copy(self, folder: Path, told: Told) -> tuple[Path, Contents]:
        program = self._program("pg_dump", self.server_version())
        target = folder / DATABASES[self.engine]
        # What is read here and what the tool writes are one state: it is lent this transaction's snapshot.
        with transaction.atomic(using=self._connection.alias), self._connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            snapshot = cursor.fetchone()[0]

            def ask(statement: str) -> Sequence[tuple[Any, ...]]:
                cursor.execute(statement)
                rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
                return rows

            contents = read_contents(ask)
            self._run(
                [program, "--format=custom", *_OF_NOBODY, f"--snapshot={snapshot}", f"--file={target}"],
                watched=lambda: told(f"Database: {in_words(target.stat().st_size)}") if target.exists() else None,
            )
        return target, contents

    def check_alone(self) -> None:
        let_go(self._connection)
        deadline = time.monotonic() + _LEAVING_SECONDS
        while hosts := self._others():
            if time.monotonic() > deadline:
                raise Unable(f"The database is open from {', '.join(hosts)}: stop Trimus on every host first.")
            time.sleep(_POLL_SECONDS)

    def _others(self) -> list[str]:
        """From where it is open. Asked from another database, as a pool of this one's would be among them."""
        with self._connection._nodb_cursor() as cursor:
            cursor.execute(_OTHERS, [self._name])
            return [host for (host,) in cursor.fetchall()]

    def load(self, copy: Path) -> str:
        program = self._program("pg_restore", self.server_version())
        self.discard()
        self._order(f"CREATE DATABASE {_quoted(self._loading)} {self._like_present()}")
        self._run(
            [program, *_OF_NOBODY, "--exit-on-error", str(copy)],
            database=["--dbname", self._loading],
        )
        return self._loading

    def put_in_place(self, loaded: str, aside: Path | None) -> str:
        kept = _named(self._name, aside.name.replace("-", "_") if aside is not None else "empty")
        if aside is None:  # of one who was killed before it was removed
            self._order(f"DROP DATABASE IF EXISTS {_quoted(kept)}")
        let_go(self._connection)
        self._order(
            "BEGIN",
            f"ALTER DATABASE {_quoted(self._name)} RENAME TO {_quoted(kept)}",
            f"ALTER DATABASE {_quoted(loaded)} RENAME TO {_quoted(self._name)}",
            "COMMIT",
        )
        if aside is None:
            with contextlib.suppress(Unable):  # it is empty, and the new one is in place
                self._order(f"DROP DATABASE {_quoted(kept)}")
        return f"the database {kept}"

    def left_behind(self) -> str:
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [self._loading])
            return f"the database {self._loading}" if cursor.fetchone() else ""

    def discard(self) -> None:
        # The tool of a restore that was killed may be loading it still.
        self._order(f"DROP DATABASE IF EXISTS {_quoted(self._loading)} WITH (FORCE)")

    def _like_present(self) -> str:
        """The present one's encoding and order of texts."""
        with self._connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_encoding_to_char(encoding), datcollate, datctype, datlocprovider FROM pg_database"
                " WHERE datname = current_database()"
            )
            encoding, collate, ctype, provider = cursor.fetchone()
        how = f"TEMPLATE template0 ENCODING '{encoding}'"
        return f"{how} LC_COLLATE '{collate}' LC_CTYPE '{ctype}'" if provider == "c" else how

    def _order(self, *statements: str) -> None:
        """From another database of the server: one cannot be renamed from within."""
        let_go(self._connection)
        try:
            with self._connection._nodb_cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
        except DatabaseError as error:
            text = " ".join(str(error).split())
            if "being accessed by other users" in text:
                raise Unable(f"Somebody has the database open ({text}): stop Trimus on every host first.") from error
            if "permission denied" in text:
                raise Unable(
                    f"PostgreSQL refused it ({text}): restoring makes a database beside the present one. As its"
                    f" superuser: ALTER ROLE {self._connection.settings_dict['USER'] or 'NAME'} CREATEDB"
                ) from error
            raise Unable(f"PostgreSQL refused it: {text}") from error

    def _program(self, name: str, server: int) -> str:
        """The tool's path, once it is known to be as new as the server."""
        path = shutil.which(name)
        if path is None:
            raise Unable(
                f"There is no {name} here: install PostgreSQL's client, version {server} or newer"
                f" (apt-get install postgresql-client-{server})."
            )
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.search(r"\) (\d+)", said)
        if version is None or int(version[1]) < server:
            found = f"version {version[1]}" if version else "of unknown version"
            raise Unable(f"{path} is {found}, and the server is {server}: install postgresql-client-{server}.")
        return path

    def _run(
        self, command: list[str], *, database: Sequence[str] = (), watched: Callable[[], object] | None = None
    ) -> None:
        """Run a tool to its end against the server, its password in its environment and not in its arguments."""
        settings = self._connection.settings_dict
        arguments, environment = DatabaseClient.settings_to_cmd_args_env(settings, [])
        where = arguments[1:-1]
        full = [*command[:1], *where, *(database or ["--dbname", self._name]), *command[1:]]
        process = subprocess.Popen(
            full,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            while True:
                try:
                    _, errors = process.communicate(timeout=_LOOK_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if watched is not None:
                        watched()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode:
            name = Path(command[0]).name
            raise Unable(f"{name} failed: {' '.join(errors.split())[:1_000] or f'code {process.returncode}'}")


def _named(database: str, what: str) -> str:
    """A name beside the database's own, no longer than the server takes."""
    return f"{database[: _LONGEST_NAME - len(what) - 1]}_{what}"


def _quoted(name: str) -> str:
    return connections["default"].ops.quote_name(name)
