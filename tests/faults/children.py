"""What the processes of a stack do: workers, some of which end as by kill -9, a beat, and people."""

from __future__ import annotations

import asyncio
import datetime
import functools
import os
import signal
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import django
import time_machine
from celery import Celery

from tests.faults import work

TICK_SECONDS = 1.0
"""Of the beat here: what expired is found soon."""

AGAIN_SECONDS = 1.5
"""After so long, a message that is delivered more than once comes for the last time."""


SET_BACK = signal.SIGRTMIN
"""Tells a process that minds its clock that the clock was set back by an hour."""


class Toll:
    """Ends this process the n-th time it is rung, or makes it stand still. Nothing catches that, and nothing is cleaned
    up."""

    def __init__(self, arrivals: int, number: int = signal.SIGKILL) -> None:
        self._left = arrivals
        self._number = number
        self._lock = threading.Lock()

    def ring(self) -> None:
        with self._lock:
            self._left -= 1
            is_time = self._left == 0
        if is_time:
            os.kill(os.getpid(), self._number)

    def before(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """The step, with the toll rung first."""

        @functools.wraps(step)
        def run(*args: Any, **fields: Any) -> Any:
            self.ring()
            return step(*args, **fields)

        return run

    def after(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """The step, and then the toll, unless it came to nothing."""

        @functools.wraps(step)
        def run(*args: Any, **fields: Any) -> Any:
            done = step(*args, **fields)
            if done is not None:
                self.ring()
            return done

        return run


def die_at(stage: str, arrivals: int = 1, number: int = signal.SIGKILL) -> None:
    """End this process when a run reaches the stage, or when so many have; or what else the signal does."""
    import agents.listeners
    from engine import apply, asking, claim, doorbell, heartbeat, leases

    toll = Toll(arrivals, number)
    match stage:
        case "claimed":
            claim.claim = toll.after(claim.claim)
        case "prompt built":
            asking.prepare = toll.after(asking.prepare)
        case "waiting":
            leases.Lease.wait_for = toll.before(leases.Lease.wait_for)  # type: ignore[method-assign]
        case "reply kept":
            heartbeat.apply_reply = toll.before(heartbeat.apply_reply)
        case "half applied":
            apply.follow_up = toll.before(apply.follow_up)  # after the actions, inside of the transaction
        case "applied, nobody told":
            agents.listeners.doorbells = (toll.before(doorbell.ring),)  # committed; the bell has not rung
        case "applied":
            heartbeat.apply_reply = toll.after(heartbeat.apply_reply)
        case _:
            raise ValueError(f"there is no stage {stage!r}")


STAGES = ("claimed", "prompt built", "waiting", "reply kept", "half applied", "applied, nobody told", "applied")


def import_everything() -> None:
    """Once, before any child is made; nothing is connected to."""
    django.setup()
    from engine import apply, claim, heartbeat, leases, sweep, tasks  # noqa: F401
    from engine.meters import encoding

    encoding()
    celery_app().finalize()


def celery_app() -> Celery:
    """The application, on the queue of the test: others use the same broker."""
    from trimus.celery import app

    app.conf.task_default_queue = os.environ["TRIMUS_TEST_QUEUE"]
    return app


def work_as_worker(
    stage: str = "",
    arrivals: int = 1,
    life_seconds: float = 0.0,
    tries: int = 0,
    double: bool = False,
    dear: bool = False,
    halts: bool = False,
    until: str = "",
) -> None:
    """A worker. It dies at the stage, or so many seconds after its first run began, if that is said.

    `tries`: a wakeup may be lost so often, and so many workers may end over one reply, before a person is asked.
    `double`: its messages come more than once. `dear`: scripted answers have a price. `halts`: it stands still at the
    stage instead. `until`: its models answer when there is such a file.
    """
    from agents import catalogue
    from agents.catalogue import Price

    if tries:
        from engine import delivery, sweep

        delivery.TRIES = sweep.MOST_ATTEMPTS = tries
        delivery.BACKOFF = (delivery.BACKOFF[0],) * tries
    if double:
        deliver_again_and_again()
    if dear:
        catalogue.FREE = Price(Decimal(0), Decimal(work.DOLLARS_PER_MILLION), Decimal(0), Decimal(0))
    if until:
        answer_when(Path(until))
    if stage:
        die_at(stage, arrivals, signal.SIGSTOP if halts else signal.SIGKILL)
    mind_clock()
    if life_seconds:
        end_after(life_seconds)
    celery_app().worker_main(["--quiet", "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"])


def end_after(seconds: float) -> None:
    """End this process so long after its first run began: one that only began to look would lose nothing."""
    from engine import claim

    whole, began = claim.claim, threading.Event()

    def claim_one(agent_id: int, issue_id: int) -> Any:
        run = whole(agent_id, issue_id)
        if run is not None and not began.is_set():
            began.set()
            timer = threading.Timer(seconds, Toll(1).ring)
            timer.daemon = True
            timer.start()
        return run

    claim.claim = claim_one


def work_as_beat(double: bool = False) -> None:
    """A beat with quick ticks."""
    from trimus.beat import run

    mind_clock()
    tick = {"task": "engine.tasks.tick", "schedule": TICK_SECONDS, "options": {"expires": 5}}
    celery_app().conf.beat_schedule = {f"tick {number}": tick for number in range(2 if double else 1)}
    run()


def answer_when(file: Path) -> None:
    """Scripted answers are given once there is such a file, and runs may wait for that as long as tests do."""
    from agents.adapters.scripted import ScriptedProvider
    from engine import claim

    claim.RUN_DEADLINE = datetime.timedelta(hours=1)

    whole = ScriptedProvider.complete

    async def complete(self: ScriptedProvider, request: Any) -> Any:
        while not file.exists():
            await asyncio.sleep(0.5)
        return await whole(self, request)

    ScriptedProvider.complete = complete  # type: ignore[method-assign]


def mind_clock() -> None:
    signal.signal(SET_BACK, lambda *_: set_back())


def set_back() -> None:
    """This process's clock on the wall, an hour back; it runs on from there."""
    an_hour_ago = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
    time_machine.travel(an_hour_ago, tick=True).start()


def deliver_again_and_again() -> None:
    """Every message that this process sends comes twice at once, and a third time later."""
    from engine import doorbell

    whole = doorbell._send

    def send(task: Any, *args: object) -> bool:
        task.apply_async(args, retry=False)
        task.apply_async(args, retry=False, countdown=AGAIN_SECONDS)
        return whole(task, *args)

    doorbell._send = send


def ring_for_nobody() -> None:
    """No message of this process arrives."""
    from engine import doorbell

    doorbell._send = lambda *_: True


def assign(to: list[int], double: bool = False, silent: bool = False, earlier: bool = False) -> None:
    """See `work.assign`. Its bells may ring more than once or not at all, and its clock may be set back."""
    if double:
        deliver_again_and_again()
    if silent:
        ring_for_nobody()
    if earlier:
        set_back()
    work.assign(to)


def ring() -> None:
    """Ask a worker to look."""
    from engine import doorbell

    doorbell.ring()


def purge() -> None:
    """Empty the queue of the test."""
    app = celery_app()
    with app.connection() as connection:
        connection.default_channel.queue_purge(app.conf.task_default_queue)


CALLS: dict[str, Callable[..., None]] = {
    "worker": work_as_worker,
    "beat": work_as_beat,
    "ring": ring,
    "purge": purge,
    "found": work.found,
    "found costly": work.found_costly,
    "allow": work.allow,
    "found runaways": work.found_runaways,
    "look at files": work.look_at_files,
    "say": work.say,
    "assign": assign,
}
