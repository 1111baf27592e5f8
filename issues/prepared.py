"""Queries of one shape that are asked in every run of an agent, built once and from then on only executed.

Django builds the SQL of a query anew each time. For one that branches, a dozen EXISTS say, that takes ten times as
long as the database needs to answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import QuerySet

_FIRST = 7_000_000_000_000_000_001
"""Stands for the first id while the SQL is built, the next number for the second, and so on: no id comes near it."""


class Prepared:
    """A query over ids. `build` gets one id for each of its parameters and answers a `values_list` of ids, whole
    numbers, truth or short text: what comes back is what the driver has, and SQLite has 0 and 1 for truth."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        self._build = build
        self._statements: dict[str, tuple[str, tuple[Any, ...]]] = {}

    def rows(self, *ids: int) -> list[tuple[Any, ...]]:
        """What the query finds for these ids."""
        statement = self._statements.get(connection.vendor)
        if statement is None:
            built = self._build(*range(_FIRST, _FIRST + len(ids)))
            statement = self._statements[connection.vendor] = built.query.sql_with_params()
        sql, values = statement
        with connection.cursor() as cursor:
            cursor.execute(sql, [_filled(value, ids) for value in values])
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def row(self, *ids: int) -> tuple[Any, ...]:
        """The one that it finds."""
        [row] = self.rows(*ids)
        return row

    def finds_any(self, *ids: int) -> bool:
        """Whether it finds any."""
        return bool(self.rows(*ids))


def _filled(value: Any, ids: tuple[int, ...]) -> Any:
    """The id that the value stands for, or the value."""
    if isinstance(value, int) and 0 <= value - _FIRST < len(ids):
        return ids[value - _FIRST]
    return value
