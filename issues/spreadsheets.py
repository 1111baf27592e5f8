"""Tables for spreadsheets, as CSV that is written while it is sent.

Cells hold what anybody wrote, and spreadsheets run what begins like a formula: such cells are made plain text.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

from django.http import StreamingHttpResponse

Cell = str | int | float | None

MOST_ROWS = 100_000
"""A table ends here, and says so: nobody reads more, and a download keeps a thread of the server."""

ROWS_AT_ONCE = 200
"""Rows of one piece of the answer."""

_MARK = "\ufeff"
"""Before the first cell: without it spreadsheets take the file for something older than UTF-8."""

_FORMULA = re.compile(r"[\t\r\n]|[\s\"'\ufeff\u200b-\u200f\u2060]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that a spreadsheet may run. It looks past spaces, quotes and what cannot be seen, and takes the
wide forms of the signs for the signs; a tab or a line's end at the beginning is one to some."""


def plain_cell(value: Cell) -> Cell:
    """The value, so that a spreadsheet shows it and does not run it: an apostrophe goes before what is like a formula.
    Numbers are numbers."""
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return value


def csv_answer(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> StreamingHttpResponse:
    """An answer that a browser saves as `name`. `rows` are read as they are sent, `MOST_ROWS` of them at most."""
    answer = StreamingHttpResponse(_pieces(header, rows), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


class _Piece:
    """What a CSV writer has written since it was last taken."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def write(self, text: str) -> None:
        self._parts.append(text)

    def take(self) -> bytes:
        taken, self._parts = "".join(self._parts), []
        return taken.encode("utf-8", "replace")


def _pieces(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    piece = _Piece()
    # Every text in quotes: some spreadsheets part cells at semicolons, and what follows one would begin a cell.
    writer = csv.writer(piece, quoting=csv.QUOTE_NONNUMERIC)
    piece.write(_MARK)
    writer.writerow(header)
    for number, row in enumerate(rows, start=1):
        if number > MOST_ROWS:
            writer.writerow([f"Only the first {MOST_ROWS:,} rows are here: choose less for the rest."])
            break
        writer.writerow([plain_cell(value) for value in row])
        if number % ROWS_AT_ONCE == 0:
            yield piece.take()
    yield piece.take()
