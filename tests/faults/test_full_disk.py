"""A disk on which a worker can write nothing: it says so, loses nothing, and goes on when there is room again."""

from __future__ import annotations

import resource

import pytest

from tests.faults.stacks import PATIENCE_SECONDS, Stack
from tests.faults.work import DONE_ONCE, STORY
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

LOG_BYTES = 32 * 1024
"""Room for what the worker says, and not for what the database grows by."""

RUNNING = "SELECT count(*) FROM agents_run WHERE state = 'running'"


def allow_files_of(pid: int, size: int) -> None:
    """No file that the process writes may become larger, in bytes: what a full disk is, for one process alone."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_full_disk_loses_nothing_and_is_told(small_stack: Stack) -> None:
    stack = small_stack
    stack.do("found", agents=2, seconds=2)
    worker = stack.begin("worker")
    stack.begin("beat")
    wait_until(lambda: "ready" in stack.log(), stack.log, PATIENCE_SECONDS)
    stack.do("assign", to=[0])
    wait_until(lambda: stack.query(RUNNING)[0][0] > 0, stack.log, PATIENCE_SECONDS)
    allow_files_of(worker, LOG_BYTES)
    stack.do("assign", to=[1])
    wait_until(lambda: "disk I/O error" in stack.log(), stack.log, PATIENCE_SECONDS)
    assert [status for status, *_ in stack.query(STORY)] == ["todo", "todo"]
    allow_files_of(worker, resource.RLIM_INFINITY)
    stack.story_of_the_end(DONE_ONCE, 2)
    assert stack.codes[worker] is None, "it never ended"
