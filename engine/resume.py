"""Going on with a run whose worker died after the reply was kept: it is applied, and the model is not asked again."""

from __future__ import annotations

from django.db.models import F

from agents.models import Run, RunState
from engine import leases
from engine.apply import apply_reply
from engine.failures import failures_recorded
from engine.left_files import take_in_files
from engine.turns import database_turn

MOST_ATTEMPTS = 3
"""Workers that may begin to apply one reply. Should it end each of them, the run fails instead."""


def resume_run(run_id: int, attempt: int) -> None:
    """Take the run over from the worker of that attempt, which is fenced off, and apply its reply. A message that comes
    again finds another attempt, and takes nothing from whoever is at it."""
    with database_turn():
        run = _take_over(run_id, attempt)
    if run is None:
        return
    with leases.holder.hold(run), failures_recorded(run), database_turn():
        take_in_files(run)
        apply_reply(run)


def _take_over(run_id: int, attempt: int) -> Run | None:
    """The run as its next attempt; None if there is nothing to apply any more or another took it over first."""
    run = (
        Run.objects.select_related("company", "agent", "issue")
        .filter(pk=run_id, attempt=attempt, state=RunState.RUNNING, reply__isnull=False, applied_at=None)
        .first()
    )
    if run is None:
        return None
    taken = Run.objects.filter(pk=run_id, attempt=attempt, state=RunState.RUNNING)
    if not taken.update(attempt=F("attempt") + 1, lease_counter=F("lease_counter") + 1):
        return None
    run.attempt += 1
    return run
