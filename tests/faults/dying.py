"""A worker that ends as by kill -9 when its first run reaches a stage: `python -m tests.faults.dying STAGE`.

Without a stage it is a worker like any other. The queue named by TRIMUS_TEST_QUEUE is its own, on a broker that others
use too.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import django
from celery import Celery


def end(*_args: object, **_fields: object) -> None:
    """Nothing catches this, and nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def end_after(step: Callable[..., Any]) -> Callable[..., Any]:
    """The step, and then the end, unless it came to nothing."""

    @functools.wraps(step)
    def run(*args: Any, **fields: Any) -> Any:
        done = step(*args, **fields)
        if done is not None:
            end()
        return done

    return run


def die_at(stage: str) -> None:
    """Put the end into the place of a step, or after it."""
    from engine import apply, claim, heartbeat, leases

    match stage:
        case "claimed":
            claim.claim_next = end_after(claim.claim_next)
        case "prompt built":
            heartbeat.prepare = end_after(heartbeat.prepare)
        case "waiting":
            leases.Lease.wait_for = end  # type: ignore[method-assign]
        case "reply kept":
            heartbeat.apply_reply = end
        case "half applied":
            apply.follow_up = end  # after the actions, inside of the transaction
        case "applied":
            heartbeat.apply_reply = end_after(heartbeat.apply_reply)
        case _:
            raise ValueError(f"there is no stage {stage!r}")


def celery_app() -> Celery:
    """The application, on the queue of the test."""
    from trimus.celery import app

    app.conf.task_default_queue = os.environ["TRIMUS_TEST_QUEUE"]
    return app


def main(stage: str) -> None:
    django.setup()
    if stage:
        die_at(stage)
    app = celery_app()
    app.worker_main(["--quiet", "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
