"""Keeping the audit append-only where the application cannot be trusted to: in the database itself.

Triggers refuse every change or removal of a line of activity, whoever asks and by whatever means, unless the
transaction is one of `maintenance`. They belong to the table: a migration that makes the table anew (as SQLite does
for most changes) has to call `install_triggers` again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# SQLite knows no settings of a connection, so its flag is a row, there and gone within one transaction: no other
# connection ever sees it, and a crash takes it back.
_SQLITE = (
    "CREATE TABLE issues_maintenance (under_way integer NOT NULL)",
    """
    CREATE TRIGGER issues_activity_no_update BEFORE UPDATE ON issues_activity
    WHEN NOT EXISTS (SELECT 1 FROM issues_maintenance)
    BEGIN SELECT RAISE(ABORT, 'activity is append-only'); END
    """,
    """
    CREATE TRIGGER issues_activity_no_delete BEFORE DELETE ON issues_activity
    WHEN NOT EXISTS (SELECT 1 FROM issues_maintenance)
    BEGIN SELECT RAISE(ABORT, 'activity is append-only'); END
    """,
    # INSERT OR REPLACE removes the old row without a delete that a trigger would see.
    """
    CREATE TRIGGER issues_activity_no_replace BEFORE INSERT ON issues_activity
    WHEN EXISTS (SELECT 1 FROM issues_activity WHERE id = NEW.id)
        AND NOT EXISTS (SELECT 1 FROM issues_maintenance)
    BEGIN SELECT RAISE(ABORT, 'activity is append-only'); END
    """,
)
_SQLITE_UNDO = (
    "DROP TRIGGER IF EXISTS issues_activity_no_update",
    "DROP TRIGGER IF EXISTS issues_activity_no_delete",
    "DROP TRIGGER IF EXISTS issues_activity_no_replace",
    "DROP TABLE IF EXISTS issues_maintenance",
)
_POSTGRESQL = (
    """
    CREATE FUNCTION issues_activity_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF current_setting('trimus.maintenance', true) = 'on' THEN
            RETURN COALESCE(NEW, OLD);
        END IF;
        RAISE EXCEPTION 'activity is append-only' USING ERRCODE = 'restrict_violation';
    END $$
    """,
    """
    CREATE TRIGGER issues_activity_no_change BEFORE UPDATE OR DELETE ON issues_activity
    FOR EACH ROW EXECUTE FUNCTION issues_activity_refuse()
    """,
    """
    CREATE TRIGGER issues_activity_no_truncate BEFORE TRUNCATE ON issues_activity
    FOR EACH STATEMENT EXECUTE FUNCTION issues_activity_refuse()
    """,
)
_POSTGRESQL_UNDO = (
    "DROP TRIGGER IF EXISTS issues_activity_no_truncate ON issues_activity",
    "DROP TRIGGER IF EXISTS issues_activity_no_change ON issues_activity",
    "DROP FUNCTION IF EXISTS issues_activity_refuse()",
)


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
    """Shut the audit of a database, also one that is shut already."""
    remove_triggers(schema_editor)
    for statement in _SQLITE if schema_editor.connection.vendor == "sqlite" else _POSTGRESQL:
        schema_editor.execute(statement)


def remove_triggers(schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in _SQLITE_UNDO if schema_editor.connection.vendor == "sqlite" else _POSTGRESQL_UNDO:
        schema_editor.execute(statement)


def _switch(connection: BaseDatabaseWrapper, *, on: bool) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("INSERT INTO issues_maintenance VALUES (1)" if on else "DELETE FROM issues_maintenance")
        else:
            # Local to the transaction: a rollback, also to a savepoint, takes it back.
            cursor.execute("SELECT set_config('trimus.maintenance', %s, true)", ["on" if on else "off"])
