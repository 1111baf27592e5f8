"""What the processes of a stack do: workers, some of which end as by kill -9, a beat, and people."""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import django
from celery import Celery
from celery.signals import worker_ready

from tests.faults import work

TICK_SECONDS = 1.0
"""Of the beat here: what expired is found soon."""

AGAIN_SECONDS = 1.5
"""After so long, a message that is delivered more than once comes for the last time."""


class Toll:
    """Ends this process the n-th time it is rung. Nothing catches that, and nothing is cleaned up."""

    def __init__(self, arrivals: int) -> None:
        self._left = arrivals
        self._lock = threading.Lock()

    def ring(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

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


def die_at(stage: str, arrivals: int = 1) -> None:
    """End this process when a run reaches the stage, or when so many have."""
    import agents.listeners
    from engine import apply, asking, claim, doorbell, heartbeat, leases

    toll = Toll(arrivals)
    match stage:
        case "claimed":
            claim.claim_next = toll.after(claim.claim_next)
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
) -> None:
    """A worker. It dies at the stage, or so many seconds after it was ready, if that is said.

    `tries`: a wakeup may be lost so often, and so many workers may end over one reply, before a person is asked.
    `double`: its messages come more than once. `dear`: scripted answers have a price.
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
    if stage:
        die_at(stage, arrivals)
    if life_seconds:
        worker_ready.connect(lambda **_: end_after(life_seconds), weak=False)
    celery_app().worker_main(["--quiet", "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"])


def end_after(seconds: float) -> None:
    timer = threading.Timer(seconds, Toll(1).ring)
    timer.daemon = True
    timer.start()


def work_as_beat(double: bool = False) -> None:
    """A beat with quick ticks."""
    from trimus.beat import run

    tick = {"task": "engine.tasks.tick", "schedule": TICK_SECONDS, "options": {"expires": 5}}
    celery_app().conf.beat_schedule = {f"tick {number}": tick for number in range(2 if double else 1)}
    run()


def deliver_again_and_again() -> None:
    """Every message that this process sends comes twice at once, and a third time later."""
    from engine import doorbell

    whole = doorbell._send

    def send(task: Any, *args: object) -> bool:
        task.apply_async(args, retry=False)
        task.apply_async(args, retry=False, countdown=AGAIN_SECONDS)
        return whole(task, *args)

    doorbell._send = send


def assign(to: list[int], double: bool = False) -> None:
    """See `work.assign`. Its bells may ring more than once."""
    if double:
        deliver_again_and_again()
    work.assign(to)


def purge() -> None:
    """Empty the queue of the test."""
    app = celery_app()
    with app.connection() as connection:
        connection.default_channel.queue_purge(app.conf.task_default_queue)


CALLS: dict[str, Callable[..., None]] = {
    "worker": work_as_worker,
    "beat": work_as_beat,
    "purge": purge,
    "found": work.found,
    "found costly": work.found_costly,
    "allow": work.allow,
    "found ring": work.found_ring,
    "say": work.say,
    "assign": assign,
}
