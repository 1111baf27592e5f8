"""What the workers are told: look for work, and tick. A message is soon done with: what takes its time has a slot."""

from __future__ import annotations

import threading

from celery.signals import worker_shutdown, worker_shutting_down

from engine.slots import slots
from engine.turns import database_turn
from trimus.celery import app

HAND_BACK_SECONDS = 10.0
"""After so long, a process that was told to end gives up the runs that still wait for their model; `manage.py up` kills
it after twenty."""

_delivering = threading.Lock()
"""One tick of a process at a time speaks to the mail server: a slow one would else take the threads that bells need."""


@worker_shutting_down.connect
def finish(**_details: object) -> None:
    """Finish the runs of this process if they end soon, and hand back those that do not."""
    from engine.leases import holder

    slots.close()
    timer = threading.Timer(HAND_BACK_SECONDS, holder.hand_back)
    timer.daemon = True
    timer.start()


@worker_shutdown.connect
def wait_for_runs(**_details: object) -> None:
    """The process has taken its last message; it ends when its runs have. Nothing said so before if its consumer broke
    down, or if it begins anew (HUP)."""
    if not slots.is_closed:
        finish()
    slots.wait()


@app.task(name="engine.tasks.look")
def look() -> None:
    """Start the runs that there are to start."""
    slots.look()


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
    """See a dry re-run through: ask the model, and note what its reply would do. Without a free slot the sweep rings
    for it again."""
    from engine.dry_runs import answer_dry_run

    slots.lend(answer_dry_run, dry_run_id)


@app.task(name="engine.tasks.tick")
def tick() -> None:
    """Every few seconds: whatever time brings, and whatever was missed."""
    from engine.notices import deliver_notices
    from engine.sweep import sweep
    from engine.webhooks import couriers

    with database_turn():
        sweep()
    couriers.send_due()
    if _delivering.acquire(blocking=False):
        try:
            deliver_notices()
        finally:
            _delivering.release()
