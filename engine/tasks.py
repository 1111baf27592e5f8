"""What the workers are told: look for work, and tick."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from celery.signals import worker_shutting_down
from django.conf import settings

from engine.slots import database_turn
from trimus.celery import app

if TYPE_CHECKING:
    from agents.models import Run

_slots = threading.Semaphore(settings.WORKER_SLOTS)
"""Of what waits for models: runs, what is summed up after them, dry re-runs. The process has some threads beyond, so
that ticks find what expired and kept replies are applied however slow the models are."""

_claiming = threading.Lock()
"""Looks of one process claim one after the other: at once they would all try for the same pair, and all but one would
have worked in vain."""


HAND_BACK_SECONDS = 10.0
"""After so long, a process that was told to end gives up the runs that still wait for their model; `manage.py up` kills
it after twenty."""

_stopping = threading.Event()
"""Set when the process was told to end: it takes no more runs."""


@worker_shutting_down.connect
def finish(**_details: object) -> None:
    """Finish the runs of this process if they end soon, and hand back those that do not."""
    from engine.leases import holder

    _stopping.set()
    timer = threading.Timer(HAND_BACK_SECONDS, holder.hand_back)
    timer.daemon = True
    timer.start()


@app.task(name="engine.tasks.look")
def look() -> None:
    """Take a run, if there is one, and see it through; then the next, for its end has freed an agent and an issue.
    Each wakeup has rung for itself, so that as many slots look as there are runs to start."""
    if not _slots.acquire(blocking=False):
        return  # whoever has one, here or elsewhere, looks again when its run ends
    try:
        _work()
    finally:
        _slots.release()


def _work() -> None:
    from engine.checkpoints import checkpoint_after
    from engine.doorbell import ring
    from engine.heartbeat import heartbeat

    run = _take()
    while run is not None:
        heartbeat(run)
        checkpoint_after(run)
        run = _take()
        if run is not None:
            ring()  # the end of one may have freed more than one


def _take() -> Run | None:
    from engine.claim import claim_next

    if _stopping.is_set():
        return None
    with _claiming, database_turn(begins=True):
        return claim_next()


@app.task(name="engine.tasks.resume")
def resume(run_id: int, attempt: int) -> None:
    """Go on with a run whose worker died after the reply was kept, in that attempt."""
    from engine.doorbell import ring
    from engine.resume import resume_run

    try:
        resume_run(run_id, attempt)
    finally:
        ring()


@app.task(name="engine.tasks.rehearse")
def rehearse(dry_run_id: int) -> None:
    """See a dry re-run through: ask the model, and note what its reply would do."""
    from engine.dry_runs import answer_dry_run

    if _stopping.is_set() or not _slots.acquire(blocking=False):
        return  # the sweep rings for it again
    try:
        answer_dry_run(dry_run_id)
    finally:
        _slots.release()


@app.task(name="engine.tasks.tick")
def tick() -> None:
    """Every few seconds: whatever time brings, and whatever was missed."""
    from engine.notices import deliver_notices
    from engine.sweep import sweep

    with database_turn():
        sweep()
    deliver_notices()
