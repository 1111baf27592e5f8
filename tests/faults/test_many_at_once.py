"""A worker process with as many runs as it has slots, all waiting for their models: the next one waits its turn, and
nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.stacks import LONG, PATIENCE_SECONDS, STACKS, Stack
from tests.faults.work import DONE_ONCE
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600 if LONG else 1200)]

SLOTS = 256 if LONG else 64
AGENTS = 4
TURNS = 4
"""Of those at the database at a time."""

ASKED = "SELECT count(*) FROM agents_run WHERE state = 'running' AND prompt_built_at IS NOT NULL"
RUNS = "SELECT count(*) FROM agents_run"
WAITING = "SELECT count(*) FROM agents_wakeup WHERE state = 'pending'"
TICK = "SELECT felt_at FROM agents_pulse WHERE name = 'tick'"


def connections(stack: Stack, worker: int) -> int:
    """How many the worker has open."""
    if stack.database_url:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        return int(stack.query(f"SELECT count(*) FROM pg_stat_activity WHERE {others}")[0][0])  # noqa: S608
    files = [file.readlink().name for file in Path(f"/proc/{worker}/fd").iterdir() if file.is_symlink()]
    return files.count("trimus.sqlite3")


def count(stack: Stack, statement: str) -> int:
    return int(stack.query(statement)[0][0])


@pytest.mark.parametrize("stack", STACKS if LONG else STACKS[1:2], indirect=True)
def test_all_slots_wait_for_models_with_hardly_a_connection_and_what_comes_next_waits_for_one_of_them(
    stack: Stack, tmp_path: Path
) -> None:
    answers = tmp_path / "answer"
    stack.environment |= {
        "TRIMUS_WORKER_SLOTS": str(SLOTS),
        "TRIMUS_DATABASE_SLOTS": str(TURNS),
        "TRIMUS_WEB_THREADS": str(TURNS),
        "TRIMUS_LEASE_SECONDS": "120",
    }
    stack.do("found", agents=AGENTS, runs=SLOTS // AGENTS + 1)
    worker = stack.begin("worker", until=str(answers))
    stack.begin("beat")
    stack.do("assign", to=[number % AGENTS for number in range(SLOTS + 1)])
    wait_until(lambda: count(stack, ASKED) == SLOTS, lambda: f"{count(stack, ASKED)} runs", PATIENCE_SECONDS)
    for _ in range(2):  # ticks go on, and ring for it
        before = stack.query(TICK)
        wait_until(lambda before=before: stack.query(TICK) != before, stack.log, PATIENCE_SECONDS)
    assert (count(stack, RUNS), count(stack, WAITING)) == (SLOTS, 1)
    assert connections(stack, worker) <= TURNS + 4, "the pool's limit, of which the runs hold none"
    answers.touch()
    stack.story_of_the_end(DONE_ONCE, SLOTS + 1)
