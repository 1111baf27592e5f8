"""Going on with a run whose worker died after the reply was kept: it is applied, and the model is not asked again."""

from __future__ import annotations

from django.db.models import F

from agents.models import Run, RunState
from engine.apply import apply_reply
from engine.fence import Fenced
from engine.slots import database_turn


def resume_run(run_id: int) -> None:
    """Take the run over as its next attempt, which fences off the former worker, and apply its reply."""
    with database_turn():
        run = Run.objects.filter(pk=run_id, state=RunState.RUNNING, reply__isnull=False, applied_at=None).first()
        if run is None:
            return
        taken = Run.objects.filter(pk=run_id, attempt=run.attempt, state=RunState.RUNNING)
        if not taken.update(attempt=F("attempt") + 1, lease_counter=F("lease_counter") + 1):
            return
        run.attempt += 1
        try:
            apply_reply(run)
        except Fenced:
            return
