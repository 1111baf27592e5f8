"""Lists in pages that stay right while rows come and go: each page begins after the last row of the one before."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from django.core import signing
from django.db.models import BooleanField, F, Field, Func, Model, QuerySet, Value
from django.db.models.sql.compiler import SQLCompiler

from issues.rest.problems import Malformed

DEFAULT_LIMIT = 50
MAX_LIMIT = 200

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Order:
    """A total order of rows: these columns, all rising or all falling. The last one tells any two rows apart."""

    columns: tuple[str, ...]
    falling: bool = False

    def apply(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        return rows.order_by(*(f"-{column}" if self.falling else column for column in self.columns))

    @property
    def salt(self) -> str:
        """Binds a cursor to the order it was made in."""
        return f"cursor:{','.join(self.columns)}:{self.falling}"


OLDEST_FIRST = Order(("id",))
NEWEST_FIRST = Order(("id",), falling=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows of a list, and the cursor of the next page; empty on the last."""

    rows: Sequence[Row]
    cursor: str


def read_page(rows: QuerySet[Row], order: Order, *, cursor: str = "", limit: int = DEFAULT_LIMIT) -> Page[Row]:
    """The page after `cursor`, in one query whatever its place in the list. Malformed for a cursor not made here."""
    ordered = order.apply(rows)
    if cursor:
        ordered = ordered.filter(_Beyond(rows.model, order, _read_cursor(order, cursor)))
    found = list(ordered[: limit + 1])
    if len(found) <= limit:
        return Page(found, "")
    return Page(found[:limit], _make_cursor(order, found[limit - 1]))


def _make_cursor(order: Order, row: Model) -> str:
    values = [getattr(row, column) for column in order.columns]
    plain = [value.isoformat() if isinstance(value, datetime.datetime) else value for value in values]
    return signing.dumps(plain, salt=order.salt)


def _read_cursor(order: Order, cursor: str) -> list[Any]:
    # Signed, so that what comes back is what was given out: of the right types, and in range for the database.
    try:
        values: list[Any] = signing.loads(cursor, salt=order.salt)
    except signing.BadSignature:
        raise Malformed("The cursor is not one of this list in this order.") from None
    return values


class _Beyond(Func):
    """`(a, b) > (1, 2)`: a comparison of rows, which both databases answer from an index over those columns."""

    conditional = True

    def __init__(self, model: type[Model], order: Order, values: Sequence[Any]) -> None:
        self.operator = "<" if order.falling else ">"
        self.width = len(order.columns)
        fields = [cast("Field[Any, Any]", model._meta.get_field(column)) for column in order.columns]
        super().__init__(
            *map(F, order.columns),
            *(Value(field.to_python(value), output_field=field) for field, value in zip(fields, values, strict=True)),
            output_field=BooleanField(),
        )

    def as_sql(  # type: ignore[override] # the base class takes options that a comparison has no use for
        self, compiler: SQLCompiler, *_context: Any, **_options: Any
    ) -> tuple[str, list[Any]]:
        parts = [compiler.compile(expression) for expression in self.source_expressions]
        sides = [", ".join(sql for sql, _ in parts[: self.width]), ", ".join(sql for sql, _ in parts[self.width :])]
        return f"({sides[0]}) {self.operator} ({sides[1]})", [value for _, given in parts for value in given]
