"""Taking wakeups back whose cause a person has undone."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from agents.models import Run, Wakeup, WakeupState
from agents.models.run import LIVE
from agents.services.runs import cancel_run
from issues.actors import Person


def withdraw_wakeups(actor: Person, ids: Sequence[int]) -> None:
    """End those that still wait, and cancel the runs that nothing else began. A wakeup that others joined meanwhile
    stands: it is theirs now. Part of the caller's transaction."""
    Wakeup.objects.filter(pk__in=ids, state=WakeupState.PENDING, joined=0).update(
        state=WakeupState.STALE, ended_at=timezone.now(), ended_because=f"{actor} undid what asked for it."
    )
    begun = Run.objects.filter(wakeups__in=ids, state__in=LIVE).select_related("company", "issue__company").distinct()
    for run in begun:
        reasons = run.wakeups.values_list("pk", "joined")
        if all(pk in ids and not joined for pk, joined in reasons):
            cancel_run(actor=actor, run=run)
