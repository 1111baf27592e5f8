"""The clock of all processes set back by an hour in the middle of their work: nothing waits for that hour to pass,
nothing is lost or done twice."""

from __future__ import annotations

import os
import signal

import pytest

from tests.faults.children import SET_BACK
from tests.faults.stacks import PATIENCE_SECONDS, Stack
from tests.faults.test_brokers import stopped, wait_for_runs
from tests.faults.work import DONE_ONCE
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

AGENTS = 4
TICKS = "SELECT count(*) FROM agents_pulse WHERE name = 'tick'"


def test_a_clock_that_is_set_back_an_hour_holds_up_nothing_and_has_nothing_done_twice(stack: Stack) -> None:
    stack.do("found", agents=AGENTS, seconds=1)
    # One reply is kept and not applied, one run waits for its model, one wakeup for a worker, one comes afterwards.
    dying = stack.begin("worker", stage="reply kept")
    stack.do("assign", to=[0])
    assert stack.code_of_doomed(dying) == -signal.SIGKILL, stack.log()
    workers = [stack.begin("worker") for _ in range(2)]
    beat = stack.begin("beat")
    wait_until(lambda: stack.query(TICKS) == [(1,)], stack.log, PATIENCE_SECONDS)
    stack.do("assign", to=[1])
    wait_for_runs(stack, 2)
    with stopped(stack, workers):
        stack.do("assign", to=[2])
        for pid in (*workers, beat):
            os.kill(pid, SET_BACK)
    stack.do("assign", to=[3], earlier=True)
    stack.story_of_the_end(DONE_ONCE, AGENTS)
    assert stack.query("SELECT max(attempt), count(*) FROM agents_run") == [(2, AGENTS)]
