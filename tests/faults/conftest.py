"""Stacks of a fresh database and a broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import templates
from tests.faults.stacks import STACKS, Stack


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stack]:
    broker_url, database = request.param
    yield from opened(Stack(tmp_path, broker_url, ""), database)


@pytest.fixture
def small_stack(tmp_path: Path) -> Iterator[Stack]:
    """SQLite and the embedded broker."""
    yield from opened(Stack(tmp_path, "embedded://localhost", ""), "sqlite")


def opened(stack: Stack, database: str) -> Iterator[Stack]:
    """The stack on a fresh database, closed afterwards."""
    if database == "sqlite":
        templates.copy_sqlite(stack.data / "trimus.sqlite3")
        try:
            yield stack
        finally:
            stack.close()
        return
    with templates.fresh_postgres() as stack.database_url:
        try:
            yield stack
        finally:
            stack.close()
