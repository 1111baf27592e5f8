"""Lists in pages that stay right while rows come and go: each page begins after the last row of the one before."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core import signing
from django.db.models import Model, QuerySet

from issues.keysets import Order, Row
from issues.rest.problems import Malformed

Shown = TypeVar("Shown")

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Page(Generic[Shown]):
    """Rows of a list, or what is shown for them, and the cursor of the next page; empty on the last."""

    rows: Sequence[Shown]
    cursor: str


def read_page(rows: QuerySet[Row], order: Order, *, cursor: str = "", limit: int = DEFAULT_LIMIT) -> Page[Row]:
    """The page after `cursor`, in one query whatever its place in the list. Malformed for a cursor not made here."""
    ordered = order.apply(rows)
    if cursor:
        ordered = order.beyond(ordered, _read_cursor(order, cursor))
    found = list(ordered[: limit + 1])
    if len(found) <= limit:
        return Page(found, "")
    return Page(found[:limit], _make_cursor(order, found[limit - 1]))


def _make_cursor(order: Order, row: Model) -> str:
    plain = [value.isoformat() if isinstance(value, datetime.datetime) else value for value in order.place_of(row)]
    return signing.dumps(plain, salt=order.salt)


def _read_cursor(order: Order, cursor: str) -> list[Any]:
    # Signed, so that what comes back is what was given out: of the right types, and in range for the database.
    try:
        values: list[Any] = signing.loads(cursor, salt=order.salt)
    except signing.BadSignature:
        raise Malformed("The cursor is not one of this list in this order.") from None
    return values
