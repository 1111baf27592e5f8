"""A database or a broker killed while a worker is at a stage of the line: the work is done exactly once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import templates
from tests.faults import private
from tests.faults.children import STAGES
from tests.faults.conftest import opened
from tests.faults.private import PrivateServer
from tests.faults.stacks import LONG, PATIENCE_SECONDS, Stack
from tests.faults.work import DONE_AND_SEEN_ONCE
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600 if LONG else 1200), pytest.mark.own_servers]

VICTIMS = ["database", *(["redis", "rabbitmq"] if LONG else [])]
KILLED_AT = STAGES if LONG else ("half applied",)


@pytest.fixture(params=VICTIMS)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Stack, PrivateServer]]:
    """A stack, and the server of it that is killed."""
    if request.param != "database":
        with getattr(private, request.param)() as (server, url):
            for stack in opened(Stack(tmp_path, url, ""), "postgres"):
                yield stack, server
        return
    with private.postgres() as (server, url):
        stack = Stack(tmp_path, "embedded://localhost", url)
        templates.migrate(stack.data, url)
        try:
            yield stack, server
        finally:
            stack.close()


def stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_server_killed_at_a_stage_of_the_line_has_nothing_done_twice(scene: tuple[Stack, PrivateServer]) -> None:
    stack, server = scene
    stack.do("found", agents=len(KILLED_AT), witness=True)
    stack.begin("beat")
    for number, stage in enumerate(KILLED_AT):
        worker = stack.begin("worker", stage=stage, halts=True)
        stack.do("assign", to=[number])
        wait_until(lambda worker=worker: stands_still(worker), stack.log, PATIENCE_SECONDS)
        server.kill()
        os.kill(worker, signal.SIGCONT)  # it meets the server that is gone, and goes on when that is back
        server.start()
        stack.story_of_the_end(DONE_AND_SEEN_ONCE, number + 1)
        assert stack.kill(worker) == -signal.SIGKILL
