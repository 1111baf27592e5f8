"""Linear's and Jira's issues, as they export them: a table with a row for each and names over its columns."""

from __future__ import annotations

import csv
import datetime
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from issues.models import Priority, Status
from issues.trackers.draft import (
    BadRow,
    Draft,
    Reading,
    Saying,
    Unreadable,
    distinct,
    moment_of,
    priority_of,
    status_of,
    words_of,
)

_LONGEST_CELL = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Cells:
    """One row, by the names of its columns; Jira has a column for each of several labels or comments."""

    line: int
    by_name: dict[str, list[str]]

    def get(self, *names: str) -> str:
        """The first that says anything."""
        return next((cell for name in names for cell in self.every(name)), "")

    def every(self, name: str) -> list[str]:
        return [cell for cell in self.by_name.get(name.lower(), ()) if cell.strip()]


def read_table(text: str) -> Reading:
    """Linear's or Jira's, which its columns tell. Unreadable if they tell of neither."""
    rows = _rows(text)
    _, header = next(rows, (1, []))
    names = [name.strip().lower() for name in header]
    cells = (_named(line, names, row) for line, row in rows if any(cell.strip() for cell in row))
    if {"issue key", "summary"} <= set(names):
        return _read_jira(list(cells))
    if {"id", "title", "team"} <= set(names):
        return _read("Linear", cells, _linear)
    raise Unreadable(
        "Its first line is neither Linear's (ID, Team, Title …) nor Jira's (Summary, Issue key …), and it is no JSON of"
        " GitHub."
    )


def _read(tracker: str, rows: Iterable[Cells], draft_of: Callable[[Cells], Draft]) -> Reading:
    reading = Reading(tracker)
    unknown: Counter[str] = Counter()
    for row in rows:
        try:
            reading.drafts.append(draft_of(row))
        except BadRow as bad:
            reading.bad.append((row.line, str(bad)))
            continue
        if _status(row) is None:
            unknown[row.get("Status")] += 1
    reading.remarks += [
        f"No status of this tracker is “{word[:60]}”, so it is the backlog for {count:,}."
        for word, count in unknown.items()
    ]
    return reading


def _linear(row: Cells) -> Draft:
    key = _required(row, "ID")
    status = _status(row) or Status.BACKLOG
    parent = row.get("Parent issue")
    return Draft(
        line=row.line,
        source=f"linear {key}",
        place=key,
        title=_required(row, "Title"),
        description=row.get("Description"),
        status=status,
        priority=priority_of(row.get("Priority")) or Priority.NONE,
        labels=words_of(row.get("Labels")),
        assignees=distinct([row.get("Assignee")]),
        author=row.get("Creator"),
        parent=f"linear {parent}" if parent else "",
        created_at=moment_of(row.get("Created")),
        closed_at=moment_of(row.get("Completed", "Canceled")) if status.is_closed else None,
        due_date=_day(row.get("Due Date")),
    )


def _read_jira(rows: list[Cells]) -> Reading:
    """It names a parent by its key, or by an id that only the file can translate."""
    keys = {row.get("Issue id"): row.get("Issue key") for row in rows}

    def parent_of(row: Cells) -> str:
        by_id = keys.get(row.get("Parent id", "Parent"), "")
        return row.get("Parent key") or by_id or row.get("Custom field (Epic Link)")

    return _read("Jira", rows, lambda row: _jira(row, parent_of(row)))


def _jira(row: Cells, parent: str) -> Draft:
    key = _required(row, "Issue key")
    status = _status(row) or Status.BACKLOG
    return Draft(
        line=row.line,
        source=f"jira {key}",
        place=key,
        title=_required(row, "Summary"),
        description=row.get("Description"),
        status=status,
        priority=priority_of(row.get("Priority")) or Priority.NONE,
        labels=distinct(row.every("Labels")),
        assignees=distinct([row.get("Assignee")]),
        author=row.get("Reporter", "Creator"),
        parent=f"jira {parent}" if parent else "",
        comments=tuple(map(_said, row.every("Comment"))),
        created_at=moment_of(row.get("Created")),
        closed_at=moment_of(row.get("Resolved")) if status.is_closed else None,
        due_date=_day(row.get("Due date")),
    )


def _status(row: Cells) -> Status | None:
    """Of a status that is nobody else's Jira says to which category it belongs; and how a closed one was resolved."""
    said = row.get("Status")
    found = status_of(said, row.get("Status Category"))
    return Status.CANCELLED if found is Status.DONE and status_of(row.get("Resolution")) is Status.CANCELLED else found


def _said(cell: str) -> Saying:
    """Jira's comment: moment, author and words, between semicolons."""
    moment, _, rest = cell.partition(";")
    author, _, body = rest.partition(";")
    said_at = moment_of(moment)
    return Saying(author, body, said_at) if said_at is not None and body else Saying("", cell)


def _day(text: str) -> datetime.date | None:
    moment = moment_of(text)
    return moment.date() if moment is not None else None


def _required(row: Cells, name: str) -> str:
    cell = row.get(name).strip()
    if not cell:
        raise BadRow(f"Its column “{name}” is empty.")
    return cell


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line on which it begins."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""))
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise Unreadable(f"Line {line}: it is no table ({error}).") from error


def _named(line: int, names: list[str], row: list[str]) -> Cells:
    by_name: dict[str, list[str]] = defaultdict(list)
    for name, cell in zip(names, row, strict=False):
        by_name[name].append(cell)
    return Cells(line, by_name)
