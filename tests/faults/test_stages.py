"""A worker killed at each stage of the line, on each stack: the work is done exactly once."""

from __future__ import annotations

import signal
import time

import pytest

from tests.faults.children import STAGES
from tests.faults.stacks import Stack
from tests.faults.work import DONE_AND_SEEN_ONCE, LEFT_BEHIND, NOTHING, STORY
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def test_a_worker_killed_at_each_stage_does_its_work_exactly_once(stack: Stack) -> None:
    stack.do("found", agents=len(STAGES), witness=True)
    for number, stage in enumerate(STAGES):
        worker = stack.begin("worker", stage=stage)
        stack.do("assign", to=[number])
        assert stack.code_of_doomed(worker) == -signal.SIGKILL, stack.log()
    stack.begin("worker")
    stack.begin("beat")
    stack.story_of_the_end(DONE_AND_SEEN_ONCE, len(STAGES))
    time.sleep(1)  # what would be done twice would be done now
    assert stack.query(STORY) == [DONE_AND_SEEN_ONCE] * len(STAGES)
    assert stack.query(LEFT_BEHIND) == NOTHING


def test_a_worker_that_is_told_to_end_hands_its_run_back(small_stack: Stack) -> None:
    stack = small_stack
    stack.do("found", agents=1, seconds=300)
    worker = stack.begin("worker")
    stack.do("assign", to=[0])
    wait_until(lambda: stack.query("SELECT state FROM agents_run") == [("running",)], stack.log)
    assert stack.kill(worker, signal.SIGTERM) == 0, stack.log()
    assert stack.query("SELECT state FROM agents_run") == [("lost",)]
    assert stack.query("SELECT state, tries FROM agents_wakeup") == [("pending", 0)]
