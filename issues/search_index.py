"""The words of issues and comments, indexed by the database itself.

SQLite has a full-text table (FTS5) beside each of the two, which triggers keep in the transaction of every change;
PostgreSQL has GIN indexes over the words of the columns. No code that writes a text knows of either.

Triggers belong to their table: a migration that makes it anew (as SQLite does for most changes) loses them. So
`keep_index` looks after every `migrate`, puts back what is missing, and fills it.
"""

# ruff: noqa: S608 - statements are put together of names alone

from __future__ import annotations

from typing import Any

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

ISSUE_WORDS = "issues_issue_words"
COMMENT_WORDS = "issues_comment_words"
_INDEXED = ((ISSUE_WORDS, "issues_issue", ("title", "description")), (COMMENT_WORDS, "issues_comment", ("body",)))
"""Each index with its table and the columns that it holds."""

_PUNCTUATION = "!\"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~"
_POSTGRESQL = (
    # Every sign ends a word, as on SQLite: PostgreSQL's own parser keeps addresses, paths and numbers with a sign
    # whole, and nobody would find `parser` in `engine/parser.py`. Letters lose their accents.
    f"""
    CREATE OR REPLACE FUNCTION issues_words(given text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector('simple', regexp_replace(
        normalize(translate(given, '{_PUNCTUATION}', repeat(' ', 32)), NFKD), '[\\u0300-\\u036f]', '', 'g'))
    $$
    """,
    "CREATE INDEX issues_title_words ON issues_issue USING gin (issues_words(title))",
    f"CREATE INDEX {ISSUE_WORDS} ON issues_issue USING gin (issues_words(title || ' ' || description))",
    f"CREATE INDEX {COMMENT_WORDS} ON issues_comment USING gin (issues_words(body))",
    "ANALYZE issues_issue",
    "ANALYZE issues_comment",
)
_POSTGRESQL_UNDO = (
    "DROP INDEX IF EXISTS issues_title_words",
    f"DROP INDEX IF EXISTS {ISSUE_WORDS}",
    f"DROP INDEX IF EXISTS {COMMENT_WORDS}",
)


def keep_index(using: str, **_signal: Any) -> None:
    """After a migration: make the index where there is none, or where it lost what keeps it."""
    connection = connections[using]
    # Not before the tables are there, as when migrating to a state before them.
    wanted = {table for _, table, _ in _INDEXED}
    if wanted <= set(connection.introspection.table_names()) and not is_kept(connection):
        rebuild_index(connection)


def rebuild_index(connection: BaseDatabaseWrapper) -> None:
    """Make the index from what the tables hold. Safe at any time: others wait, and see the old one or the new one."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        for statement in _rebuilding(connection):
            cursor.execute(statement)


def is_kept(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database has all that keeps the index true."""
    if connection.vendor == "sqlite":
        kind, names = "trigger", [f"{index}_{event}" for index, _, _ in _INDEXED for event in ("in", "out", "change")]
        found = "SELECT count(*) FROM sqlite_master WHERE type = %s AND name IN (%s, %s, %s, %s, %s, %s)"
    else:
        kind, names = "i", ["issues_title_words", ISSUE_WORDS, COMMENT_WORDS]
        found = (
            "SELECT count(*) FROM pg_class WHERE relkind = %s AND relname IN (%s, %s, %s) AND pg_table_is_visible(oid)"
        )
    with connection.cursor() as cursor:
        cursor.execute(found, [kind, *names])
        return bool(cursor.fetchone()[0] == len(names))


def count_missing(connection: BaseDatabaseWrapper) -> int:
    """By how many texts the index differs from the tables in number; PostgreSQL's cannot."""
    if connection.vendor != "sqlite":
        return 0
    with connection.cursor() as cursor:
        missing = 0
        for index, table, _ in _INDEXED:
            cursor.execute(f"SELECT (SELECT count(*) FROM {table}) - (SELECT count(*) FROM {index}_docsize)")
            missing += abs(cursor.fetchone()[0])
        return missing


def _rebuilding(connection: BaseDatabaseWrapper) -> list[str]:
    if connection.vendor != "sqlite":
        return [*_POSTGRESQL_UNDO, *_POSTGRESQL]
    return [statement for index, table, columns in _INDEXED for statement in _sqlite(index, table, columns)]


def _sqlite(index: str, table: str, columns: tuple[str, ...]) -> list[str]:
    """The full-text table keeps no text of its own: it reads the table's. So it has to be told the old words when a
    row goes."""
    names = ", ".join(columns)
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    changed = " OR ".join(f"OLD.{column} <> NEW.{column}" for column in columns)
    leave = f"INSERT INTO {index} ({index}, rowid, {names}) VALUES ('delete', OLD.id, {old});"
    enter = f"INSERT INTO {index} (rowid, {names}) VALUES (NEW.id, {new});"
    return [
        *(f"DROP TRIGGER IF EXISTS {index}_{event}" for event in ("in", "out", "change")),
        f"DROP TABLE IF EXISTS {index}",
        f"CREATE VIRTUAL TABLE {index} USING fts5({names}, content='{table}', content_rowid='id', "
        "tokenize='unicode61 remove_diacritics 2')",
        f"INSERT INTO {index} ({index}) VALUES ('rebuild')",
        f"CREATE TRIGGER {index}_in AFTER INSERT ON {table} BEGIN {enter} END",
        f"CREATE TRIGGER {index}_out AFTER DELETE ON {table} BEGIN {leave} END",
        f"CREATE TRIGGER {index}_change AFTER UPDATE OF id, {names} ON {table} "
        f"WHEN OLD.id <> NEW.id OR {changed} BEGIN {leave} {enter} END",
    ]
