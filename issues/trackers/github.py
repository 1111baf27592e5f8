"""GitHub's issues: as its API lists them, or `gh issue list --json …` prints them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from issues.models import Status
from issues.trackers.draft import BadRow, Draft, Reading, Saying, Unreadable, distinct, moment_of

FIELDS = "url,title,body,state,stateReason,labels,assignees,author,comments,createdAt,closedAt"
"""What to ask `gh issue list --json` for."""

_ADDRESS = re.compile(r"https?://(?P<host>[^/]+)/(?P<repository>[^/]+/[^/]+)/issues/(?P<number>\d+)")
_PULL = re.compile(r"/pull/\d+$")
_OF_API = re.compile(r"//(?:api\.(?P<host>[^/]+)|(?P<own_host>[^/]+)/api/v3)/repos/")
"""An address of GitHub's API, and of that of a server of one's own."""

_COLOUR = re.compile("[0-9a-fA-F]{6}")
_NOT_DONE = ("not_planned", "duplicate")


def read_github(text: str) -> Reading:
    """Lists of issues, one after the other as several pages give them, or one issue a line."""
    reading = Reading("GitHub")
    pulls = counted = hidden = 0
    for line, row in _rows(text):
        if not isinstance(row, dict):
            reading.bad.append((line, "It is no issue."))
            continue
        if "pull_request" in row or _PULL.search(str(_either(row, "html_url", "url"))):
            pulls += 1
            continue
        counted += isinstance(row.get("comments"), int) and row["comments"] > 0
        try:
            reading.drafts.append(_draft(line, row))
            hidden += sum(map(_is_hidden, _comments(row)))
        except BadRow as bad:
            reading.bad.append((line, str(bad)))
        except (AttributeError, TypeError, KeyError):
            reading.bad.append((line, "It is not in the form of GitHub's issues."))
    if pulls:
        reading.remarks.append(f"{pulls:,} pull request{'s are' if pulls > 1 else ' is'} left out.")
    if hidden:
        reading.remarks.append(
            f"{hidden:,} comment{'s are' if hidden > 1 else ' is'} left out that somebody hid there."
        )
    if counted:
        reading.remarks.append(
            f"{counted:,} issue{'s have' if counted > 1 else ' has'} comments that are not in the file:"
            f" gh issue list --json {FIELDS}"
        )
    return reading


def _draft(line: int, row: Mapping[str, Any]) -> Draft:
    place = _address(row)
    is_closed = str(row["state"]).lower() == "closed"
    reason = str(_either(row, "state_reason", "stateReason") or "").lower()
    labels = [label if isinstance(label, dict) else {"name": label} for label in row.get("labels") or ()]
    parent = row.get("parent") or {}
    return Draft(
        line=line,
        source=_source(place),
        place=place,
        title=str(row["title"] or ""),
        description=str(row.get("body") or ""),
        # What is open there was decided by nobody here: it comes into the backlog, and entering todo sets to work.
        status=(Status.CANCELLED if reason in _NOT_DONE else Status.DONE) if is_closed else Status.BACKLOG,
        labels=distinct(label["name"] for label in labels),
        colours={label["name"]: f"#{label['color']}" for label in labels if _is_colour(label.get("color"))},
        assignees=distinct(one.get(name) or "" for one in row.get("assignees") or () for name in ("login", "name")),
        author=_login(row, "user", "author"),
        parent=_parent(str(row.get("parent_issue_url") or parent.get("url") or "")),
        comments=tuple(
            Saying(_login(one, "user", "author"), str(one.get("body") or ""), _moment(one, "created_at", "createdAt"))
            for one in _comments(row)
            if not _is_hidden(one)
        ),
        created_at=_moment(row, "created_at", "createdAt"),
        closed_at=_moment(row, "closed_at", "closedAt") if is_closed else None,
    )


def _comments(row: Mapping[str, Any]) -> list[Any]:
    """Those that are in the file; the API says how many there are."""
    comments = row.get("comments")
    return comments if isinstance(comments, list) else []


def _is_hidden(comment: Mapping[str, Any]) -> bool:
    """Whether somebody there has folded it away, as spam or abuse: agents here are not to read it either."""
    return bool(comment.get("isMinimized"))


def _is_colour(said: Any) -> bool:
    return isinstance(said, str) and _COLOUR.fullmatch(said) is not None


def _address(row: Mapping[str, Any]) -> str:
    address = str(_either(row, "html_url", "url") or "")
    if not _ADDRESS.match(address):
        raise BadRow(f"It has no `url`: gh issue list --json {FIELDS}")
    return address


def _source(address: str) -> str:
    found = _ADDRESS.match(address)
    if found is None:
        return ""
    return f"{found['host']}/{found['repository']}#{found['number']}".lower()


def _parent(address: str) -> str:
    """Its source; the API names it by an address of the API."""
    return _source(_OF_API.sub(lambda found: f"//{found['host'] or found['own_host']}/", address))


def _rows(text: str) -> Iterator[tuple[int, Any]]:
    """Each element of the lists with the line on which it begins."""
    decoder, place, line, counted = json.JSONDecoder(), 0, 1, 0
    while (found := re.compile(r"[^\s,\[\]]").search(text, place)) is not None:
        line += text.count("\n", counted, found.start())
        counted = found.start()
        try:
            row, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"Line {line}: it is no JSON ({error}).") from error
        yield line, row


def _either(row: Mapping[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name)), None)


def _login(row: Mapping[str, Any], *names: str) -> str:
    somebody = _either(row, *names) or {}
    return str(somebody.get("login") or "")


def _moment(row: Mapping[str, Any], *names: str) -> Any:
    said = _either(row, *names)
    return moment_of(said) if said else None
