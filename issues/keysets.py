"""Orders of rows in which a list can be read page after page: each page begins after the last row of the one before.

So a page costs the same wherever it is, and stays right while rows come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from django.db.models import BooleanField, F, Field, Func, Model, QuerySet, Value
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Order:
    """A total order of rows: these columns, all rising or all falling. The last one tells any two rows apart.
    A column may be an annotation of the rows; none may be null."""

    columns: tuple[str, ...]
    falling: bool = False

    def apply(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        return rows.order_by(*(f"-{column}" if self.falling else column for column in self.columns))

    def place_of(self, row: Model) -> list[Any]:
        """Where the row lies in this order."""
        return [getattr(row, column) for column in self.columns]

    def beyond(self, rows: QuerySet[Row], place: Sequence[Any]) -> QuerySet[Row]:
        """The rows after that place."""
        fields = [_field(rows, column) for column in self.columns]
        values = [field.to_python(value) for field, value in zip(fields, place, strict=True)]
        return rows.filter(_Beyond(self, fields, values))

    @property
    def salt(self) -> str:
        """Binds a cursor to the order it was made in."""
        return f"cursor:{','.join(self.columns)}:{self.falling}"


OLDEST_FIRST = Order(("id",))
NEWEST_FIRST = Order(("id",), falling=True)


def _field(rows: QuerySet[Any], column: str) -> Field[Any, Any]:
    annotated = rows.query.annotations.get(column)
    found = annotated.output_field if annotated is not None else rows.model._meta.get_field(column)
    return cast("Field[Any, Any]", found)


class _Beyond(Func):
    """`(a, b) > (1, 2)`: a comparison of rows, which both databases answer from an index over those columns."""

    conditional = True

    def __init__(self, order: Order, fields: Sequence[Field[Any, Any]], values: Sequence[Any]) -> None:
        self.operator = "<" if order.falling else ">"
        self.width = len(order.columns)
        super().__init__(
            *map(F, order.columns),
            *(Value(value, output_field=field) for field, value in zip(fields, values, strict=True)),
            output_field=BooleanField(),
        )

    def as_sql(  # type: ignore[override] # the base class takes options that a comparison has no use for
        self, compiler: SQLCompiler, *_context: Any, **_options: Any
    ) -> tuple[str, list[Any]]:
        parts = [compiler.compile(expression) for expression in self.source_expressions]
        sides = [", ".join(sql for sql, _ in parts[: self.width]), ", ".join(sql for sql, _ in parts[self.width :])]
        return f"({sides[0]}) {self.operator} ({sides[1]})", [value for _, given in parts for value in given]
