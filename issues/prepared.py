"""Queries of one shape that are asked in every run of an agent, built once and from then on only executed.

Django builds the SQL of a query anew each time. For one that joins some tables that takes longer than all the rest, and
for one that branches, a dozen EXISTS say, ten times as long as the database needs to answer.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler
from django.db.transaction import TransactionManagementError

Value = int | datetime.date
"""What may differ from one execution to the next: an id, or a day."""

M = TypeVar("M", bound=Model)


class Prepared:
    """A query over ids and days. `build` gets a value for each of its parameters and answers a `values_list` of ids,
    whole numbers, truth or short text: what comes back is what the driver has, and SQLite has 0 and 1 for truth."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        self._statements = _Statements(build)

    def rows(self, *values: Value) -> list[tuple[Any, ...]]:
        """What the query finds for these values."""
        statement = self._statements.for_this_database(values)
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(statement.sql, statement.filled(values))
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def row(self, *values: Value) -> tuple[Any, ...]:
        """The one that it finds."""
        [row] = self.rows(*values)
        return row

    def finds_any(self, *values: Value) -> bool:
        """Whether it finds any."""
        return bool(self.rows(*values))


class PreparedInstances(Generic[M]):
    """A query over ids and days that finds instances, with what is selected or prefetched beside them. It may hold
    their rows."""

    def __init__(self, build: Callable[..., QuerySet[M]]) -> None:
        self._statements = _Statements(build)

    def all(self, *values: Value) -> list[M]:
        """What the query finds for these values."""
        return list(self._statements.for_this_database(values).ready(values))

    def first(self, *values: Value) -> M | None:
        """The first that it finds, of a query that orders and limits them as it needs to."""
        return next(iter(self.all(*values)), None)


class _Statements:
    """The query's SQL in the language of each database that was asked."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        self._build = build
        self._built: dict[str, _Statement] = {}

    def for_this_database(self, values: Sequence[Value]) -> _Statement:
        vendor = connections[DEFAULT_DB_ALIAS].vendor
        if vendor not in self._built:
            standing_in = [_stand_in(number, value) for number, value in enumerate(values)]
            self._built[vendor] = _Statement.of(self._build(*standing_in), standing_in)
        return self._built[vendor]


@dataclass(frozen=True, slots=True)
class _Statement:
    """The SQL of a query, with its parameters, and for each of these the number of the value that takes its place."""

    queryset: QuerySet[Any, Any]
    compiler: SQLCompiler  # which knows how rows become instances
    sql: str
    parameters: tuple[Any, ...]
    places: tuple[int | None, ...]

    @classmethod
    def of(cls, queryset: QuerySet[Any, Any], standing_in: Sequence[Value]) -> _Statement:
        compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        number_of = {_adapted(value): number for number, value in enumerate(standing_in)}
        places = tuple(number_of.get(parameter) for parameter in parameters)
        if lost := set(range(len(standing_in))).difference(places):
            raise ValueError(f"The query does not ask for its value number {min(lost) + 1}: {sql}")
        return cls(queryset, compiler, sql, parameters, places)

    def filled(self, values: Sequence[Value]) -> tuple[Any, ...]:
        """The parameters, with these values in their places."""
        return tuple(
            parameter if place is None else _adapted(values[place])
            for parameter, place in zip(self.parameters, self.places, strict=True)
        )

    def ready(self, values: Sequence[Value]) -> QuerySet[Any, Any]:
        """The queryset for these values, which builds no SQL when it is evaluated. On this thread's connection."""
        compiler, query = copy(self.compiler), copy(self.queryset.query)
        compiler.connection = connections[DEFAULT_DB_ALIAS]
        if query.select_for_update and not compiler.connection.in_atomic_block:
            raise TransactionManagementError("Rows are held within a transaction only.")
        compiler.as_sql = lambda *_, **__: (self.sql, self.filled(values))  # type: ignore[method-assign]
        query.get_compiler = lambda *_, **__: compiler  # type: ignore[method-assign]
        ready: QuerySet[Any, Any] = QuerySet(self.queryset.model, query)
        ready._prefetch_related_lookups = self.queryset._prefetch_related_lookups  # type: ignore[attr-defined]
        return ready


def _stand_in(number: int, like: Value) -> Value:
    """What stands for the value of that number while the SQL is built: nothing that a query names by itself, and within
    what a column of four bytes holds."""
    if isinstance(like, int):
        return 2_000_000_001 + number
    return datetime.date(8000, 1, 1) + datetime.timedelta(days=number)


def _adapted(value: Value) -> Any:
    """As it stands among the parameters of a statement."""
    if isinstance(value, int):
        return value
    return connections[DEFAULT_DB_ALIAS].ops.adapt_datefield_value(value)
