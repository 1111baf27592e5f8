"""What a row of another tracker's file says, in the words of this one."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from issues.models import Priority, Status


class BadRow(Exception):
    """The row is no issue that could be here. The message says why."""


class Unreadable(Exception):
    """The file is in none of the forms that are known. The message says why."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A comment there."""

    author: str
    body: str
    said_at: datetime.datetime | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """One issue. `source` says where it is from, and is the same whenever it is written down."""

    line: int  # of the file, from 1
    source: str
    title: str
    description: str = ""
    status: Status = Status.BACKLOG
    priority: Priority = Priority.NONE
    labels: tuple[str, ...] = ()
    colours: dict[str, str] = field(default_factory=dict)  # of labels
    assignees: tuple[str, ...] = ()  # names, handles or addresses, the first that is somebody here counts
    author: str = ""
    place: str = ""  # an address, or an identifier there
    parent: str = ""  # another draft's source
    comments: tuple[Saying, ...] = ()
    created_at: datetime.datetime | None = None
    closed_at: datetime.datetime | None = None
    due_date: datetime.date | None = None


@dataclass(slots=True)
class Reading:
    """A whole file: its issues, the rows that are none with the reason, and what else is to be said."""

    tracker: str
    drafts: list[Draft] = field(default_factory=list)
    bad: list[tuple[int, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


_STATUSES: dict[Status, tuple[str, ...]] = {
    Status.BACKLOG: ("backlog", "triage", "open", "new", "icebox", "reopened"),
    Status.TODO: ("todo", "unstarted", "selected for development", "ready", "planned", "next"),
    Status.IN_PROGRESS: ("in progress", "started", "doing", "in development", "implementing"),
    Status.IN_REVIEW: ("in review", "review", "code review", "qa", "testing", "in testing", "in qa"),
    Status.BLOCKED: ("blocked", "on hold", "waiting"),
    Status.DONE: ("done", "closed", "completed", "resolved", "complete", "merged", "released"),
    Status.CANCELLED: ("cancelled", "canceled", "duplicate", "wont do", "wont fix", "rejected", "declined"),
}
_PRIORITIES: dict[Priority, tuple[str, ...]] = {
    Priority.URGENT: ("urgent", "highest", "blocker", "critical", "1"),
    Priority.HIGH: ("high", "major", "2"),
    Priority.MEDIUM: ("medium", "normal", "3"),
    Priority.LOW: ("low", "lowest", "minor", "trivial", "4"),
    Priority.NONE: ("no priority", "none", "0", ""),
}
_STATUS_OF = {word: status for status, words in _STATUSES.items() for word in words}
_PRIORITY_OF = {word: priority for priority, words in _PRIORITIES.items() for word in words}

_FORMATS = (
    "%d/%b/%y %I:%M %p",
    "%d/%b/%Y %I:%M %p",
    "%d/%b/%y",
    "%d.%m.%Y %H:%M",
    "%Y/%m/%d %H:%M",
    "%b %d, %Y, %I:%M %p",
)
"""As Jira writes a moment, by the language of whoever exports."""

_EARLIEST, _LATEST = 1970, 2999
"""Years. What lies further off is a mistake, and could not be shown in every time zone."""

_SCRIPT = re.compile(r"\w{3} (\w{3} \d{1,2} \d{4} \d\d:\d\d:\d\d) GMT([+-]\d{4})")
"""As a browser writes one, which is what Linear does."""


def status_of(*words: str) -> Status | None:
    """The status of the first of the words that is known."""
    plain = (re.sub(r"[^\w ]", "", word.replace("-", " ").replace("_", " ")).strip().lower() for word in words)
    return next((found for word in plain if (found := _STATUS_OF.get(word.replace("to do", "todo")))), None)


def priority_of(word: str) -> Priority | None:
    return _PRIORITY_OF.get(word.strip().lower())


def moment_of(text: str) -> datetime.datetime | None:
    """The moment, in UTC where it names no zone; None if it cannot be read, or is none at which there were issues."""
    found = _moment(text.strip())
    if found is None or not _EARLIEST <= found.year <= _LATEST:
        return None
    return found.replace(tzinfo=datetime.UTC) if found.tzinfo is None else found.astimezone(datetime.UTC)


def words_of(text: str) -> tuple[str, ...]:
    """What stands between commas."""
    return distinct(text.split(","))


def distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


def _moment(text: str) -> datetime.datetime | None:
    with contextlib.suppress(ValueError):
        return datetime.datetime.fromisoformat(text)
    if found := _SCRIPT.match(text):
        with contextlib.suppress(ValueError):
            return datetime.datetime.strptime(f"{found[1]} {found[2]}", "%b %d %Y %H:%M:%S %z")
    for form in _FORMATS:
        with contextlib.suppress(ValueError):
            return datetime.datetime.strptime(text, form)
    return None
