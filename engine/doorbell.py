"""The doorbell: a message to the workers that carries nothing but "look". Losing one costs seconds, never work, for the
sweep finds every wakeup that nobody took."""

from __future__ import annotations

import structlog

log = structlog.get_logger(__name__)


def ring() -> None:
    """Ask some worker to look for work. Never raises: a broker that is down is the sweep's business."""
    from engine.tasks import look

    try:
        look.apply_async(retry=False)
    except Exception as error:  # whatever the broker's client raises
        log.warning("doorbell.silent", error=str(error))
