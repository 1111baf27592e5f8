"""Linear's and Jira's issues, as they export them: a table with a row for each and names over its columns."""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

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
_HALF_A_DAY = datetime.timedelta(hours=12)
_JIRA_KEY = re.compile(r"[A-Z][A-Z0-9_]*-\d+")
_DELIMITERS = (",", ";", "\t")  # Jira asks for one, and Excel has its own
_DATES = ("Created", "Completed", "Canceled", "Resolved", "Due date")
_STEPS = {"Canceled": "canceled", "Completed": "completed", "Started": "started"}
"""Columns of Linear, the last step first, with a word for the status that it is a step to."""


@dataclass(frozen=True, slots=True)
class Cells:
    """One row, by the names of its columns; Jira has a column for each of several labels or comments."""

    line: int
    by_name: dict[str, list[str]]
    is_long: bool  # longer than the row of names

    def get(self, *names: str) -> str:
        """The first that says anything."""
        return next((cell for name in names for cell in self.every(name)), "")

    def every(self, name: str) -> list[str]:
        return [cell for cell in self.by_name.get(name.lower(), ()) if cell.strip()]


def read_table(text: str, *, site: str = "") -> Reading:
    """Linear's or Jira's, which its columns tell; `site` tells those of several apart, whose keys may be the same.
    Unreadable if the columns tell of neither."""
    rows = _rows(text)
    _, header = next(rows, (1, []))
    names = [name.strip().lower() for name in header]
    cells = (_named(line, names, row) for line, row in rows if any(cell.strip() for cell in row))
    if {"issue key", "summary"} <= set(names):
        return _read_jira(list(cells), f"jira {site}".strip())
    if {"id", "title", "team"} <= set(names):
        return _read("Linear", cells, partial(_linear, f"linear {site}".strip()))
    raise Unreadable(
        "Its first line is neither Linear's (ID, Team, Title …) nor Jira's (Summary, Issue key …), and it is no JSON of"
        " GitHub."
    )


def _read(tracker: str, rows: Iterable[Cells], draft_of: Callable[[Cells], Draft]) -> Reading:
    reading = Reading(tracker)
    unknown: Counter[str] = Counter()
    unread: list[str] = []
    for row in rows:
        try:
            if row.is_long:
                raise BadRow("It has more cells than there are columns, so what stands in which is not to be told.")
            reading.drafts.append(draft_of(row))
        except BadRow as bad:
            reading.bad.append((row.line, str(bad)))
            continue
        if (word := row.get("Status")) and _status(row) is None:
            unknown[word] += 1
        unread += [cell for name in _DATES if (cell := row.get(name)) and moment_of(cell) is None]
    if unread:
        told = f"{len(unread):,} date{'s are' if unread[1:] else ' is'} left out, as nobody can read"
        reading.remarks.append(f"{told} “{unread[0][:60]}”{' and others' if unread[1:] else ''}.")
    reading.remarks += [
        f"No status of this tracker is “{word[:60]}”, so it is the backlog for {count:,}."
        for word, count in unknown.items()
    ]
    return reading


def _linear(tracker: str, row: Cells) -> Draft:
    key = _required(row, "ID")
    status = _status(row) or Status.BACKLOG
    parent = row.get("Parent issue")
    return Draft(
        line=row.line,
        source=f"{tracker} {key}",
        place=key,
        title=_required(row, "Title"),
        description=row.get("Description"),
        status=status,
        priority=priority_of(row.get("Priority")) or Priority.NONE,
        labels=words_of(row.get("Labels")),
        assignees=distinct([row.get("Assignee")]),
        author=row.get("Creator"),
        parent=f"{tracker} {parent}" if parent else "",
        created_at=moment_of(row.get("Created")),
        closed_at=moment_of(row.get("Completed", "Canceled")) if status.is_closed else None,
        due_date=_nearest_day(row.get("Due Date")),
    )


def _read_jira(rows: list[Cells], tracker: str) -> Reading:
    """It names a parent by its key, or by an id that only the file can translate; and who comments by an id, too."""
    keys = {number: row.get("Issue key") for row in rows if (number := row.get("Issue id"))}
    roles = ("Assignee", "Reporter", "Creator")
    names = {account: row.get(role) for row in rows for role in roles if (account := row.get(f"{role} Id"))}

    def parent_of(row: Cells) -> str:
        said = row.get("Parent id", "Parent")
        return row.get("Parent key") or keys.get(said) or _key(said) or row.get("Custom field (Epic Link)")

    return _read("Jira", rows, lambda row: _jira(tracker, row, parent_of(row), names))


def _key(said: str) -> str:
    return said if _JIRA_KEY.fullmatch(said) else ""


def _jira(tracker: str, row: Cells, parent: str, names: Mapping[str, str]) -> Draft:
    key = _required(row, "Issue key")
    status = _status(row) or Status.BACKLOG
    return Draft(
        line=row.line,
        source=f"{tracker} {key}",
        place=key,
        title=_required(row, "Summary"),
        description=row.get("Description"),
        status=status,
        priority=priority_of(row.get("Priority")) or Priority.NONE,
        labels=distinct(row.every("Labels")),
        assignees=distinct([row.get("Assignee")]),
        author=row.get("Reporter", "Creator"),
        parent=f"{tracker} {parent}" if parent else "",
        comments=tuple(_said(cell, names) for cell in row.every("Comment")),
        created_at=moment_of(row.get("Created")),
        closed_at=moment_of(row.get("Resolved")) if status.is_closed else None,
        due_date=_day(row.get("Due date")),
    )


def _status(row: Cells) -> Status | None:
    """Of a status that is nobody else's Jira says to which category it belongs, and Linear when its step was taken; of
    a closed one Jira says how it was resolved."""
    said = row.get("Status")
    step = next((word for name, word in _STEPS.items() if row.get(name)), "")
    found = status_of(said, row.get("Status Category"), step)
    return Status.CANCELLED if found is Status.DONE and status_of(row.get("Resolution")) is Status.CANCELLED else found


def _said(cell: str, names: Mapping[str, str]) -> Saying:
    """Jira's comment: moment, author and words, between semicolons."""
    moment, _, rest = cell.partition(";")
    author, _, body = rest.partition(";")
    said_at = moment_of(moment)
    return Saying(names.get(author) or author, body, said_at) if said_at is not None and body else Saying("", cell)


def _day(text: str) -> datetime.date | None:
    moment = moment_of(text)
    return moment.date() if moment is not None else None


def _nearest_day(text: str) -> datetime.date | None:
    """Linear writes a day as the moment of its midnight where somebody was: at most half a day from that of UTC."""
    moment = moment_of(text)
    return (moment + _HALF_A_DAY).date() if moment is not None else None


def _required(row: Cells, name: str) -> str:
    cell = row.get(name).strip()
    if not cell:
        raise BadRow(f"Its column “{name}” is empty.")
    return cell


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line on which it begins."""
    csv.field_size_limit(_LONGEST_CELL)
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=first.count))
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
    return Cells(line, by_name, is_long=len(row) > len(names))
