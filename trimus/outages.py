"""When the database cannot do what it is asked: no bug, nothing is changed, and it passes."""

from __future__ import annotations

import logging
import sqlite3
import sys
from http import HTTPStatus

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseServerError, JsonResponse
from django.template.loader import render_to_string

RETRY_SECONDS = 5

_DISK = "The disk of the database is full or cannot be written."
_BUSY = "The database is busy with other writers."
_AWAY = "The database cannot be reached."
_OF_SQLITE = {
    sqlite3.SQLITE_ERROR: "",  # the statement is wrong, which is a bug
    sqlite3.SQLITE_FULL: _DISK,
    sqlite3.SQLITE_IOERR: _DISK,
    sqlite3.SQLITE_CANTOPEN: _DISK,
    sqlite3.SQLITE_READONLY: _DISK,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
}
_DISK_FULL = "53100"
"""PostgreSQL's code."""

logger = logging.getLogger(__name__)


def why_out(error: BaseException | None) -> str:
    """What the database lacks, in words; empty if the error is another one."""
    if not isinstance(error, (OperationalError, InterfaceError)):
        return ""
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if code is not None:
        return _OF_SQLITE.get(code & 0xFF, _AWAY)
    return _DISK if getattr(error.__cause__, "sqlstate", None) == _DISK_FULL else _AWAY


def answer_error(request: HttpRequest) -> HttpResponse:
    """The answer to an exception that nobody expected: 503, with what is wrong and when to come again, if the database
    is out, else 500."""
    why = why_out(sys.exc_info()[1])
    is_api = request.path.startswith("/api/")
    if not why:
        return _broken() if is_api else HttpResponseServerError(render_to_string("500.html"))
    logger.error("%s %s was not answered: %s", request.method, request.path, why)
    answer = _unavailable(why) if is_api else HttpResponse(_page(why))
    answer._has_been_logged = True  # type: ignore[attr-defined] # by Django once more, with a traceback each time
    answer.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    answer["Retry-After"] = str(RETRY_SECONDS)
    return answer


def _unavailable(why: str) -> HttpResponse:
    return _problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", why, "Nothing was changed. Send it again in a while."
    )


def _broken() -> HttpResponse:
    return _problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "broken",
        "Something broke on our side.",
        "Nothing was changed. The server's log says what happened.",
    )


def _problem(status: HTTPStatus, kind: str, detail: str, hint: str) -> HttpResponse:
    document = {
        "type": f"urn:trimus:problem:{kind}",
        "title": kind.capitalize(),
        "status": status.value,
        "detail": detail,
        "hint": hint,
    }
    return JsonResponse(document, status=status, content_type="application/problem+json")


def _page(why: str) -> str:
    return render_to_string("503.html", {"why": why})
