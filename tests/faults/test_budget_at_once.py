"""Ten runs that could cost 20 cents each, claimed by four processes at the same time, with 50 cents to spend."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import opened
from tests.faults.stacks import DATABASES, LONG, PATIENCE_SECONDS, Stack
from tests.faults.work import DOLLAR
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

RUNS = 10
PROCESSES = 4
COMMITTED = """
SELECT (SELECT coalesce(sum(microdollars), 0) FROM agents_reservation)
        + (SELECT coalesce(sum(cost_microdollars), 0) FROM agents_modelcall),
    (SELECT coalesce(sum(microdollars + reserved_microdollars), 0) FROM agents_spending WHERE agent_id IS NULL)
"""
"""What is set aside and what calls have cost, as the rows say one by one and as the month's row sums them up."""


@pytest.fixture(params=DATABASES)
def stack(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stack]:
    yield from opened(Stack(tmp_path, "embedded://localhost", ""), request.param)


class Watch:
    """Looks at what is committed all the while; the most it has seen."""

    def __init__(self, stack: Stack) -> None:
        self.most, self.looks = 0, 0
        self._stack, self._end = stack, threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._end.wait(0.02):
            ((single, summed),) = self._stack.query(COMMITTED)
            self.most = max(self.most, int(single), int(summed))
            self.looks += 1

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


def count(stack: Stack, status: str) -> int:
    return int(stack.query(f"SELECT count(*) FROM issues_issue WHERE status = '{status}'")[0][0])  # noqa: S608


@pytest.mark.parametrize("_", range(5 if LONG else 1))
def test_no_more_than_the_budget_is_ever_spent_or_set_aside(stack: Stack, _: int) -> None:
    stack.do("found costly", agents=RUNS, seconds=1)
    stack.do("assign", to=list(range(RUNS)))
    with Watch(stack) as watch:
        for _process in range(PROCESSES):
            stack.begin("worker", dear=True)
        stack.begin("beat")
        wait_until(lambda: count(stack, "done") == 2, stack.log, PATIENCE_SECONDS)
        reasons = "SELECT DISTINCT waiting_because FROM agents_wakeup WHERE state = 'pending'"
        used_up = [("The company's budget of $0.50 this month is used up.",)]
        wait_until(lambda: stack.query(reasons) == used_up, lambda: f"{stack.query(reasons)}", PATIENCE_SECONDS)
        assert count(stack, "todo") == RUNS - 2
        assert stack.query("SELECT count(*) FROM agents_run") == [(2,)], "nothing else has begun"
    assert watch.looks > 10
    assert 0.34 * DOLLAR < watch.most <= 0.50 * DOLLAR
    stack.do("allow", microdollars=2 * DOLLAR)
    with Watch(stack) as watch:
        wait_until(lambda: count(stack, "done") == RUNS, stack.log, PATIENCE_SECONDS)
    assert watch.most <= 2 * DOLLAR
    assert stack.query("SELECT count(*), max(state) FROM agents_run") == [(RUNS, "succeeded")]
    ((single, summed),) = stack.query(COMMITTED)
    assert single == summed
