"""What the workers are told: look for work, and tick."""

from __future__ import annotations

import threading

from django.conf import settings

from engine.slots import database_turn
from trimus.celery import app

SPARE_SLOTS = 4
"""Of a worker process, for the ticks: runs that all wait for slow models must not keep them from finding what expired.
"""

_claiming = threading.Lock()
"""Looks of one process claim one after the other: at once they would all try for the same pair, and all but one would
have worked in vain."""


@app.task(name="engine.tasks.look")
def look() -> None:
    """Take one run, if there is one, and see it through. Another worker is called first, so that as many slots wake
    as there are runs to start, and once more at the end, when agent and issue are free again."""
    from engine.checkpoints import checkpoint_after
    from engine.claim import claim_next
    from engine.doorbell import ring
    from engine.heartbeat import heartbeat
    from engine.leases import holder

    if holder.count >= max(1, settings.WORKER_SLOTS - SPARE_SLOTS):
        return  # each of the runs rings when it ends
    with _claiming, database_turn():
        run = claim_next()
    if run is None:
        return
    ring()
    try:
        heartbeat(run)
    finally:
        ring()
    checkpoint_after(run)


@app.task(name="engine.tasks.resume")
def resume(run_id: int) -> None:
    """Go on with a run whose worker died after the reply was kept."""
    from engine.doorbell import ring
    from engine.resume import resume_run

    try:
        resume_run(run_id)
    finally:
        ring()


@app.task(name="engine.tasks.tick")
def tick() -> None:
    """Every few seconds: whatever time brings, and whatever was missed."""
    from engine.sweep import sweep

    with database_turn():
        sweep()
