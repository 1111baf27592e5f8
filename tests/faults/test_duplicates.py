"""Every message delivered three times, twice at once and once later: nothing is done twice."""

from __future__ import annotations

import signal
import time

import pytest

from tests.faults.children import AGAIN_SECONDS
from tests.faults.stacks import Stack
from tests.faults.work import DONE_AND_SEEN_ONCE, LEFT_BEHIND, NOTHING, STORY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

AGENTS = 4


def test_messages_that_come_again_and_again_do_nothing_twice(stack: Stack) -> None:
    stack.do("found", agents=AGENTS, seconds=0.5, witness=True)
    # A reply that was kept and not applied, so that the message to go on with a run is among those that come again.
    dying = stack.begin("worker", stage="reply kept")
    stack.do("assign", to=[0])
    assert stack.code_of_doomed(dying) == -signal.SIGKILL, stack.log()
    for _ in range(2):
        stack.begin("worker", double=True)
    stack.begin("beat", double=True)
    stack.do("assign", to=list(range(1, AGENTS)), double=True)
    stack.story_of_the_end(DONE_AND_SEEN_ONCE, AGENTS)
    time.sleep(AGAIN_SECONDS + 1)  # what comes last has come
    assert stack.query(STORY) == [DONE_AND_SEEN_ONCE] * AGENTS
    assert stack.query(LEFT_BEHIND) == NOTHING
    assert stack.query("SELECT max(attempt), count(*) FROM agents_run") == [(2, 2 * AGENTS)]
