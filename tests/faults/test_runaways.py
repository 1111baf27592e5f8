"""Agents that make work for one another for ever, or for themselves, with two workers at it: they come to rest, the
board is told, and a person lets them go on."""

from __future__ import annotations

import pytest

from tests.faults.stacks import PATIENCE_SECONDS, Stack
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

STOPPED = "SELECT count(*), count(DISTINCT issue_id) FROM issues_activity WHERE kind = 'guard.stopped'"
TOLD = """
SELECT count(*), count(DISTINCT issue_id) FROM issues_inboxitem WHERE kind = 'stopped' AND archived_at IS NULL
"""
AT_WORK = "SELECT count(*) FROM agents_wakeup WHERE state IN ('pending', 'claimed')"
RUNS = """
SELECT handle, count(*) FROM agents_run JOIN agents_agent ON agents_agent.id = agent_id GROUP BY handle ORDER BY handle
"""
ONE_CHAIN = {"ada": 3, "bob": 2, "carl": 3, "dora": 2, "emil": 2, "max": 9}
"""Who calls is called twice by others, the first was called by a person before; who makes issues for itself comes to
the limit of eight hops."""


def rest(stack: Stack, times: int) -> dict[str, int]:
    """Everybody's runs when all three have come to rest that many times; of each the board has been told once."""

    def is_at_rest() -> bool:
        return stack.query(STOPPED)[0][0] == 3 * times and stack.query(AT_WORK) == [(0,)]

    wait_until(is_at_rest, lambda: f"{stack.query(RUNS)}\n{stack.log()}", PATIENCE_SECONDS)
    assert stack.query(TOLD) == [(3, 3)]
    return dict(stack.query(RUNS))


def test_who_calls_the_other_a_ring_and_who_makes_issues_for_itself_come_to_rest_and_go_on_when_a_person_says_so(
    stack: Stack,
) -> None:
    stack.do("found runaways")
    for _ in range(2):
        stack.begin("worker")
    stack.begin("beat")
    for number, handle in enumerate(("ada", "carl", "max"), 1):
        stack.do("say", body=f"@{handle}, please begin.", numbers=[number])
    assert rest(stack, 1) == ONE_CHAIN
    for number, handle in ((1, "ada"), (2, "carl"), (0, "max")):
        stack.do("say", body=f"@{handle}, once more.", numbers=[number])
    assert rest(stack, 2) == {handle: 2 * runs for handle, runs in ONE_CHAIN.items()}
