"""Keeping the audit append-only where the application cannot be trusted to: in the database itself.

Triggers refuse every change or removal of a line of activity, whoever asks and by whatever means, unless the
transaction is one of `maintenance`. So it is with the seals of the lines (`issues/audit_chain.py`). Triggers belong to
their table: a migration that makes it anew (as SQLite does for most changes) loses them, so `keep_shut` looks after
every `migrate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_LINES = "issues_activity"
_SEALS = "issues_auditseal"
_UNIQUE = {_LINES: "id = NEW.id", _SEALS: "id = NEW.id OR (company_id = NEW.company_id AND number = NEW.number)"}
"""What an INSERT OR REPLACE of SQLite would remove the old row by, without a delete that a trigger would see."""

# SQLite knows no settings of a connection, so its flag is a row, there and gone within one transaction: no other
# connection ever sees it, and a crash takes it back.
_SQLITE_FLAG = "CREATE TABLE IF NOT EXISTS issues_maintenance (under_way integer NOT NULL)"
_SQLITE_NAMES = ("no_update", "no_delete", "no_replace")
_POSTGRESQL_REFUSAL = """
    CREATE OR REPLACE FUNCTION issues_activity_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF current_setting('trimus.maintenance', true) = 'on' THEN
            RETURN COALESCE(NEW, OLD);
        END IF;
        RAISE EXCEPTION 'activity is append-only' USING ERRCODE = 'restrict_violation';
    END $$
"""
_POSTGRESQL_NAMES = ("no_change", "no_truncate")


@contextmanager
def maintenance(using: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """A transaction in which lines of activity may be removed: for deleting a whole company, and for emptying a
    test database. Outside of it, and for every other connection, the audit stays shut."""
    connection = connections[using]
    with transaction.atomic(using=using):
        _switch(connection, on=True)
        yield
        _switch(connection, on=False)


def install_triggers(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Shut the lines of a database, also of one where they are shut already."""
    _run(schema_editor, _shutting(schema_editor.connection.vendor, _LINES))


def remove_triggers(schema_editor: BaseDatabaseSchemaEditor) -> None:
    vendor = schema_editor.connection.vendor
    _run(schema_editor, _opening(vendor, _LINES))
    flag = "TABLE IF EXISTS issues_maintenance" if vendor == "sqlite" else "FUNCTION IF EXISTS issues_activity_refuse()"
    _run(schema_editor, [f"DROP {flag}"])


def shut_seals(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Shut the seals of the lines in the same way."""
    _run(schema_editor, _shutting(schema_editor.connection.vendor, _SEALS))


def open_seals(schema_editor: BaseDatabaseSchemaEditor) -> None:
    _run(schema_editor, _opening(schema_editor.connection.vendor, _SEALS))


def keep_shut(using: str, **_signal: Any) -> None:
    """After a migration: put back what one that made a table anew has lost."""
    connection = connections[using]
    there = set(connection.introspection.table_names())
    for table in {_LINES, _SEALS} & there:  # not before the table is there
        if not _is_shut(connection, table):
            with transaction.atomic(using=using), connection.cursor() as cursor:
                for statement in _shutting(connection.vendor, table):
                    cursor.execute(statement)


def is_shut(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database has all that keeps lines and seals from being changed."""
    return all(_is_shut(connection, table) for table in (_LINES, _SEALS))


def _run(schema_editor: BaseDatabaseSchemaEditor, statements: Iterable[str]) -> None:
    for statement in statements:
        schema_editor.execute(statement)


def _shutting(vendor: str, table: str) -> tuple[str, ...]:
    if vendor == "sqlite":
        alone = "NOT EXISTS (SELECT 1 FROM issues_maintenance)"
        refusal = "BEGIN SELECT RAISE(ABORT, 'activity is append-only'); END"
        is_there = f"EXISTS (SELECT 1 FROM {table} WHERE {_UNIQUE[table]})"  # noqa: S608 - names of ours
        return (
            _SQLITE_FLAG,
            *_opening(vendor, table),
            f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} WHEN {alone} {refusal}",
            f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} WHEN {alone} {refusal}",
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {is_there} AND {alone} {refusal}",
        )
    refusal = "EXECUTE FUNCTION issues_activity_refuse()"
    return (
        _POSTGRESQL_REFUSAL,
        *_opening(vendor, table),
        f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW {refusal}",
        f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT {refusal}",
    )


def _opening(vendor: str, table: str) -> list[str]:
    if vendor == "sqlite":
        return [f"DROP TRIGGER IF EXISTS {table}_{name}" for name in _SQLITE_NAMES]
    return [f"DROP TRIGGER IF EXISTS {table}_{name} ON {table}" for name in _POSTGRESQL_NAMES]


def _is_shut(connection: BaseDatabaseWrapper, table: str) -> bool:
    if connection.vendor == "sqlite":
        names = [f"{table}_{name}" for name in _SQLITE_NAMES]
        found = "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name IN (%s, %s, %s)"
    else:
        names = [f"{table}_{name}" for name in _POSTGRESQL_NAMES]
        # One that is switched off is as good as none.
        found = "SELECT count(*) FROM pg_trigger WHERE tgname IN (%s, %s) AND tgenabled <> 'D'"
    with connection.cursor() as cursor:
        cursor.execute(found, names)
        return bool(cursor.fetchone()[0] == len(names))


def _switch(connection: BaseDatabaseWrapper, *, on: bool) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("INSERT INTO issues_maintenance VALUES (1)" if on else "DELETE FROM issues_maintenance")
        else:
            # Local to the transaction: a rollback, also to a savepoint, takes it back.
            cursor.execute("SELECT set_config('trimus.maintenance', %s, true)", ["on" if on else "off"])
