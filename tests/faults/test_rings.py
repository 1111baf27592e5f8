"""Agents that call one another for ever, with two workers at it: they come to rest, and a person lets them go on."""

from __future__ import annotations

import pytest

from tests.faults.stacks import PATIENCE_SECONDS, Stack
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

STOPPED = "SELECT count(*) FROM issues_activity WHERE kind = 'guard.stopped'"
TOLD = "SELECT count(*) FROM issues_inboxitem WHERE kind = 'stopped'"
AT_WORK = "SELECT count(*) FROM agents_wakeup WHERE state IN ('pending', 'claimed')"
RUNS = "SELECT count(*) FROM agents_run"


def rest(stack: Stack, times_stopped: int) -> int:
    """How many runs there were when they came to rest, which the issue and the board's inbox say."""

    def is_at_rest() -> bool:
        return stack.query(STOPPED) == [(times_stopped,)] and stack.query(AT_WORK) == [(0,)]

    wait_until(is_at_rest, lambda: f"{stack.query(RUNS)}\n{stack.log()}", PATIENCE_SECONDS)
    assert stack.query(TOLD)[0][0] >= 1
    return int(stack.query(RUNS)[0][0])


@pytest.mark.parametrize(("names", "runs"), [(["Ada", "Bob"], 5), (["Ada", "Bob", "Carl"], 7)], ids=["two", "three"])
def test_a_ring_comes_to_rest_and_goes_on_when_a_person_says_so(
    small_stack: Stack, names: list[str], runs: int
) -> None:
    """Each is called twice by others; the first was called by a person before."""
    stack = small_stack
    stack.do("found ring", names=names)
    for _ in range(2):
        stack.begin("worker")
    stack.begin("beat")
    stack.do("say", body="@ada, please begin.")
    assert rest(stack, 1) == runs
    stack.do("say", body="@ada, once more.")
    assert rest(stack, 2) == 2 * runs
