"""A broker that is killed or emptied in the middle of work: the messages are gone, the work is done exactly once."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis as redis_client

from tests.faults import private
from tests.faults.conftest import opened
from tests.faults.private import PrivateServer
from tests.faults.stacks import PATIENCE_SECONDS, Stack
from tests.faults.work import DONE_ONCE
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

AGENTS = 4


@dataclass
class Broker:
    """A broker of this module's own: how it is emptied, and its server if it has one."""

    url: str
    database: str
    empty: Callable[[Stack], None]
    server: PrivateServer | None = None


def remove_files(stack: Stack) -> None:
    shutil.rmtree(stack.data / "broker")


def flush_all(stack: Stack) -> None:
    with redis_client.Redis.from_url(stack.broker_url) as client:
        client.flushall()


def purge(stack: Stack) -> None:
    stack.do("purge")


SERVERS = [
    pytest.param("redis", marks=[pytest.mark.postgres, pytest.mark.own_servers]),
    pytest.param("rabbitmq", marks=[pytest.mark.postgres, pytest.mark.own_servers]),
]


@pytest.fixture(scope="module")
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    if request.param == "embedded":
        yield Broker("embedded://localhost", "sqlite", remove_files)
    elif request.param == "redis":
        with private.redis() as (server, url):
            yield Broker(url, "postgres", flush_all, server)
    else:
        with private.rabbitmq() as (server, url):
            yield Broker(url, "postgres", purge, server)


@pytest.fixture
def stack(broker: Broker, tmp_path: Path) -> Iterator[Stack]:
    yield from opened(Stack(tmp_path, broker.url, ""), broker.database)


@contextlib.contextmanager
def stopped(stack: Stack, pids: list[int]) -> Iterator[None]:
    """These processes do nothing meanwhile, and hold no lock that others need."""

    def stop() -> bool:
        signal_all(signal.SIGSTOP)
        if not stack.is_locked():
            return True
        signal_all(signal.SIGCONT)
        return False

    def signal_all(number: int) -> None:
        for pid in pids:
            os.kill(pid, number)

    wait_until(stop, stack.log, PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal_all(signal.SIGCONT)


def wait_for_runs(stack: Stack, runs: int) -> None:
    wait_until(lambda: stack.query("SELECT count(*) FROM agents_run")[0][0] >= runs, stack.log, PATIENCE_SECONDS)


@pytest.mark.parametrize("broker", ["embedded", *SERVERS], indirect=True)
def test_a_broker_that_is_emptied_costs_no_work(broker: Broker, stack: Stack) -> None:
    stack.do("found", agents=AGENTS, seconds=0.5)
    workers = [stack.begin("worker") for _ in range(2)]
    stack.begin("beat")
    stack.do("assign", to=[0])
    wait_for_runs(stack, 1)
    with stopped(stack, workers):
        stack.do("assign", to=[1, 2])
        broker.empty(stack)
    # Those who were connected before are still heard: the beat, to which nobody new comes.
    stack.story_of_the_end(DONE_ONCE, 3)
    stack.do("assign", to=[3], silent=True)
    stack.story_of_the_end(DONE_ONCE, AGENTS)


@pytest.mark.parametrize("broker", SERVERS, indirect=True)
def test_a_broker_that_is_killed_costs_no_work(broker: Broker, stack: Stack) -> None:
    assert broker.server is not None
    stack.do("found", agents=AGENTS, seconds=1)
    for _ in range(2):
        stack.begin("worker")
    stack.begin("beat")
    stack.do("assign", to=[0, 1])
    wait_for_runs(stack, 2)
    broker.server.kill()
    stack.do("assign", to=[2, 3])
    broker.server.start()
    stack.story_of_the_end(DONE_ONCE, AGENTS)
    stack.do("assign", to=[0, 1])
    stack.story_of_the_end(DONE_ONCE, AGENTS + 2)
    stack.do("assign", to=[2, 3], silent=True)  # the beat, too, has found its broker again
    stack.story_of_the_end(DONE_ONCE, AGENTS + 4)
