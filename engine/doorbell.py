"""The doorbell: a message to the workers that carries nothing but "look". Losing one costs seconds, never work, for the
sweep finds every wakeup that nobody took."""

from __future__ import annotations

import time
from typing import Any

import structlog

log = structlog.get_logger(__name__)

SILENCE_SECONDS = 5.0
"""A broker that did not take a message is left alone for so long: each try may cost a second, and whoever writes many
wakeups at once would pay it for each. The sweep comes by as often."""

_silent_until = 0.0


def ring() -> bool:
    """Ask some worker to look for work; whether the broker took the message. Never raises: a broker that is down is
    the sweep's business."""
    from engine.tasks import look

    return _send(look)


def ring_to_resume(run_id: int, attempt: int) -> bool:
    """Ask some worker to go on with a run whose reply was kept, after that attempt; whether the broker took the
    message."""
    from engine.tasks import resume

    return _send(resume, run_id, attempt)


def ring_to_rehearse(dry_run_id: int) -> bool:
    """Ask some worker to see a dry re-run through; whether the broker took the message."""
    from engine.tasks import rehearse

    return _send(rehearse, dry_run_id)


def _send(task: Any, *args: object) -> bool:
    global _silent_until
    if time.monotonic() < _silent_until:
        return False
    try:
        task.apply_async(args, retry=False)
    except Exception as error:  # whatever the broker's client raises
        _silent_until = time.monotonic() + SILENCE_SECONDS
        log.warning("doorbell.silent", task=task.name, error=str(error))
        return False
    return True
