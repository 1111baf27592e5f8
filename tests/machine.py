"""What this machine has for the tests that need more than Python, and how to get what it lacks."""

from __future__ import annotations

import functools
import getpass
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

REDIS_URL = os.environ.get("TRIMUS_TEST_REDIS_URL", "redis://127.0.0.1:6379/9")
RABBITMQ_URL = os.environ.get("TRIMUS_TEST_RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
POSTGRES_URL = os.environ.get("TRIMUS_TEST_POSTGRES_URL", "")

# The first is the same browser without windows of its own, and opens a page for a third of the work.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def required() -> frozenset[str]:
    """What TRIMUS_REQUIRE names: leaving it out is a failure."""
    return frozenset(filter(None, os.environ.get("TRIMUS_REQUIRE", "").replace(" ", "").split(",")))


@functools.cache
def chromium() -> str | None:
    """The browser's executable."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@functools.cache
def postgres_url() -> str | None:
    """The address of a PostgreSQL server on which databases may be made."""
    user = getpass.getuser()
    guesses = [
        "postgres:////var/run/postgresql/postgres",
        f"postgres://{user}@127.0.0.1:5432/postgres",
        "postgres://postgres@127.0.0.1:5432/postgres",
    ]
    return next(filter(_can_make_databases, [POSTGRES_URL] if POSTGRES_URL else guesses), None)


@functools.cache
def postgres_programs() -> str | None:
    """The folder of PostgreSQL's programs; Debian keeps them out of the path."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    found = str(places[-1]) if places else shutil.which("postgres")
    return None if found is None else str(Path(found).parent)


@functools.cache
def rabbitmq_program() -> str | None:
    """What starts a node; Debian's command in the path only does so for the user rabbitmq."""
    places = sorted(Path("/usr/lib/rabbitmq/lib").glob("*/sbin/rabbitmq-server"))
    return str(places[-1]) if places else shutil.which("rabbitmq-server")


def _has_server_programs() -> bool:
    return None not in (postgres_programs(), rabbitmq_program(), shutil.which("redis-server"))


def libpq(url: str) -> str:
    """The same address as psycopg takes it: Django's has the socket's folder where a host would be."""
    if not url.startswith("postgres:///"):
        return url
    folder, _, database = url.removeprefix("postgres:///").rpartition("/")
    return f"host={folder} dbname={database}"


def _can_make_databases(url: str) -> bool:
    try:
        with psycopg.connect(libpq(url), connect_timeout=2) as connection:
            row = connection.execute(
                "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
    except psycopg.Error:
        return False
    return bool(row and row[0])


def _listens(url: str) -> bool:
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 0), timeout=2).close()
    except OSError:
        return False
    return True


@functools.cache
def lack(name: str) -> str | None:
    """Why tests marked `name` cannot run here and what mends it; None when they can."""
    has, mend = NEEDS[name]
    return None if has() else mend


NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    "browser": (lambda: chromium() is not None, "no Chromium: apt-get install chromium-headless-shell"),
    "postgres": (
        lambda: postgres_url() is not None,
        "no PostgreSQL that lets this user make databases: start one, or set TRIMUS_TEST_POSTGRES_URL",
    ),
    "redis": (lambda: _listens(REDIS_URL), "no Redis: start one, or set TRIMUS_TEST_REDIS_URL"),
    "own_servers": (
        _has_server_programs,
        "no programs of PostgreSQL, Redis and RabbitMQ: apt-get install postgresql redis-server rabbitmq-server",
    ),
    "rabbitmq": (lambda: _listens(RABBITMQ_URL), "no RabbitMQ: start one, or set TRIMUS_TEST_RABBITMQ_URL"),
}
