"""A database that is away, busy or full is told as such, on pages and by the API; a bug is not."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

from tests import build
from trimus.outages import why_out

pytestmark = pytest.mark.django_db


def of_sqlite(code: int) -> OperationalError:
    cause = sqlite3.OperationalError("as SQLite says it")
    cause.sqlite_errorcode = code
    error = OperationalError("as SQLite says it")
    error.__cause__ = cause
    return error


def of_postgres(cause: psycopg.Error) -> OperationalError:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


def failing(error: Exception) -> AbstractContextManager[None]:
    """Every statement fails so."""

    def fail(*_args: object) -> None:
        raise error

    return connection.execute_wrapper(fail)


@pytest.fixture
def browser() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (of_sqlite(sqlite3.SQLITE_FULL), "disk of the database is full"),
        (of_sqlite(sqlite3.SQLITE_IOERR | (3 << 8)), "disk of the database is full or cannot be written"),
        (of_sqlite(sqlite3.SQLITE_BUSY), "busy"),
        (of_postgres(psycopg.errors.DiskFull("no space left")), "disk of the database is full"),
        (of_postgres(psycopg.OperationalError("connection refused")), "cannot be reached"),
        (InterfaceError("connection already closed"), "cannot be reached"),
    ],
)
def test_an_outage_is_told_with_what_is_wrong(error: Exception, words: str) -> None:
    assert words in why_out(error)


@pytest.mark.parametrize("error", [of_sqlite(sqlite3.SQLITE_ERROR), ZeroDivisionError(), None])
def test_a_bug_is_no_outage(error: Exception | None) -> None:
    assert why_out(error) == ""


def test_a_page_says_so_and_that_nothing_was_kept(browser: Client) -> None:
    with failing(of_sqlite(sqlite3.SQLITE_FULL)):
        answer = browser.get("/healthz")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    page = answer.content.decode()
    assert "disk of the database is full" in page
    assert "What you did last was not kept" in page


def test_the_api_says_so_as_a_problem(browser: Client) -> None:
    _, owner = build.company_with_founder()
    browser.force_login(owner.user)
    with failing(of_sqlite(sqlite3.SQLITE_BUSY)):
        answer = browser.get("/api/issues")
    assert answer.status_code == 503
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:trimus:problem:unavailable"
    assert "Nothing was changed" in answer.json()["hint"]


def test_a_bug_stays_a_bug(browser: Client) -> None:
    with failing(ZeroDivisionError("by nought")):
        answer = browser.get("/healthz")
    assert answer.status_code == 500
    assert "Something broke on our side" in answer.content.decode()


def test_a_bug_behind_the_api_is_told_as_a_problem_too(browser: Client) -> None:
    with failing(ZeroDivisionError("by nought")):
        answer = browser.get("/api/health")
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert (answer.json()["type"], answer.json()["status"]) == ("urn:trimus:problem:broken", 500)
    assert "nought" not in answer.content.decode()
