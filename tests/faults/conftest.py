"""Fresh databases, and stacks of a database and a broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.stacks import STACKS, Stack, Templates


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Templates]:
    templates = Templates(tmp_path_factory.mktemp("templates"))
    yield templates
    templates.close()


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest, tmp_path: Path, templates: Templates) -> Iterator[Stack]:
    broker_url, database = request.param
    yield from opened(Stack(tmp_path, broker_url, ""), database, templates)


@pytest.fixture
def small_stack(tmp_path: Path, templates: Templates) -> Iterator[Stack]:
    """SQLite and the embedded broker."""
    yield from opened(Stack(tmp_path, "embedded://localhost", ""), "sqlite", templates)


def opened(stack: Stack, database: str, templates: Templates) -> Iterator[Stack]:
    """The stack on a fresh database, closed afterwards."""
    if database == "sqlite":
        templates.copy_sqlite(stack.data)
        try:
            yield stack
        finally:
            stack.close()
        return
    with templates.postgres() as stack.database_url:
        try:
            yield stack
        finally:
            stack.close()
