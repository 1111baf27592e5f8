"""How PostgreSQL carries out what is asked of it: which tables it has to read whole, as no index leads to the rows.

A planner rightly reads a table of few thousand rows whole where an index would do. So each statement that is planned so
is planned once more without the ways that begin by reading whole tables, as where the table has a million rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

SMALL = 1_000
"""Rows of a table that may be read whole however large the company is: it is one of those that do not grow."""
SHOWN = 2_000
"""Characters of a statement that is told of."""

_PLANNED = ("SELECT", "UPDATE", "DELETE", "WITH")


@dataclass
class Planned:
    """How many statements were asked, and a line for each table that one of them has to read whole."""

    statements: int = 0
    read_whole: list[str] = field(default_factory=list)


@contextmanager
def planned(small: int = SMALL) -> Iterator[Planned]:
    """Look how each statement inside is carried out. Only what is asked on this thread's connection is seen."""
    found = Planned()
    with CaptureQueriesContext(connection) as asked:
        yield found
    rows, partial = _rows_by_table(), _partial_indexes()
    statements = {query["sql"] for query in asked.captured_queries if query["sql"].startswith(_PLANNED)}
    found.statements = len(statements)
    for sql in statements:
        if not any(rows.get(table, 0) > small for table in _read_whole(_plan(sql), partial)):
            continue
        with _only_row_by_row():
            tables = [table for table in _read_whole(_plan(sql), partial) if rows.get(table, 0) > small]
        found.read_whole += [f"{table} ({rows[table]:,.0f} rows) by {sql[:SHOWN]}" for table in tables]


def count_rows() -> None:
    """Let the planner know how many rows there are, as the database does by itself after a while."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _plan(sql: str) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}")
        [[explained]] = cursor.fetchall()
    [whole] = json.loads(explained) if isinstance(explained, str) else explained
    plan: dict[str, Any] = whole["Plan"]
    return plan


def _read_whole(plan: dict[str, Any], partial: frozenset[str], *, stops_early: bool = False) -> Iterator[str]:
    """Tables of which every row is looked at: one after the other, or by an index from its first entry to its last. An
    index of few rows only is made for that, and a limit ends a reading in the order wanted before it comes far."""
    node = plan["Node Type"]
    by_index = node in ("Index Scan", "Index Only Scan") and "Index Cond" not in plan
    if node == "Seq Scan" or (by_index and plan["Index Name"] not in partial and not stops_early):
        yield plan["Relation Name"]
    gathers = node in ("Sort", "Hash") or plan.get("Strategy") in ("Plain", "Hashed")
    stops_early = node == "Limit" or (stops_early and not gathers)
    for part in plan.get("Plans", ()):
        yield from _read_whole(part, partial, stops_early=stops_early)


@contextmanager
def _only_row_by_row() -> Iterator[None]:
    ways = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")
    with connection.cursor() as cursor:
        cursor.execute("; ".join(f"SET {way} = off" for way in ways))
        try:
            yield
        finally:
            cursor.execute("; ".join(f"RESET {way}" for way in ways))


def _rows_by_table() -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'")
        return dict(cursor.fetchall())


def _partial_indexes() -> frozenset[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL")
        return frozenset(name for (name,) in cursor.fetchall())
