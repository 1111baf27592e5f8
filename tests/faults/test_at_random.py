"""Workers that die at random stages and moments: each wakeup is delivered once, and nothing is left behind.

Which stages and moments is settled by the seed. `make faults` does it at length.
"""

from __future__ import annotations

import random
import signal
import time
from dataclasses import dataclass

import pytest

from tests.faults.children import STAGES
from tests.faults.stacks import LONG, PATIENCE_SECONDS, Stack
from tests.faults.work import DONE_ONCE
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600 if LONG else 1200)]


@dataclass(frozen=True)
class Size:
    """How many workers die, how many wakeups they find, and how many are at work at a time."""

    kills: int
    wakeups: int
    workers: int = 3


SIZE = Size(kills=60, wakeups=200) if LONG else Size(kills=20, wakeups=60)
SEEDS = range(1, 4) if LONG else range(1, 2)
AGENTS = 6
ARRIVALS = 3
LIFE_SECONDS = (0.3, 10.0 if LONG else 3.0)
"""A worker dies at its stage after up to so many arrivals, and so long after its first run began wherever it is."""

MANY = 1000
"""Tries: here work is lost more often than a person would be asked."""


def begin_doomed(stack: Stack, chance: random.Random) -> int:
    return stack.begin(
        "worker",
        stage=chance.choice(STAGES),
        arrivals=chance.randint(1, ARRIVALS),
        life_seconds=chance.uniform(*LIFE_SECONDS),
        tries=MANY,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_wakeups_are_each_delivered_once_however_many_workers_die(stack: Stack, seed: int) -> None:
    chance = random.Random(seed)
    stack.environment["TRIMUS_LEASE_SECONDS"] = "2"
    stack.do("found", agents=AGENTS, seconds=0.2, runs=3, writing=True)
    stack.begin("beat")
    living: set[int] = set()
    for kill in range(1, SIZE.kills + 1):
        while len(living) < SIZE.workers:
            living.add(begin_doomed(stack, chance))
        before = SIZE.wakeups * (kill - 1) // SIZE.kills
        stack.do("assign", to=[number % AGENTS for number in range(before, SIZE.wakeups * kill // SIZE.kills)])
        wait_until(lambda: any(stack.codes[pid] is not None for pid in living), stack.log, PATIENCE_SECONDS)
        dead = next(pid for pid in living if stack.codes[pid] is not None)
        assert stack.codes[dead] == -signal.SIGKILL, stack.log()
        living.remove(dead)
    for _ in range(2):
        stack.begin("worker", tries=MANY)
    stack.story_of_the_end(DONE_ONCE, SIZE.wakeups)
    time.sleep(1)  # what would be done twice would be done now
    assert set(stack.story_of_the_end(DONE_ONCE, SIZE.wakeups)) == {DONE_ONCE}
    stack.do("look at files", count=SIZE.wakeups)
    (runs, lost, resumed), *_ = stack.query(
        "SELECT count(*), sum(CASE WHEN state = 'lost' THEN 1 ELSE 0 END),"
        " sum(CASE WHEN attempt > 1 THEN 1 ELSE 0 END) FROM agents_run"
    )
    assert lost > 0, "the kills met work"
    print(f"seed {seed}: {SIZE.wakeups} wakeups, {SIZE.kills} kills, {runs} runs, {lost} lost, {resumed} resumed")
