"""What becomes of a run's wakeups: each is pending again until one run has delivered it, or it was tried enough."""

from __future__ import annotations

import datetime
import random
from collections.abc import Collection

from django.db import IntegrityError
from django.utils import timezone

from agents.models import Run, Wakeup, WakeupState
from agents.services.runs import consume_wakeups
from agents.services.spending import OverBudget
from agents.services.wakeups import JOIN_TRIES, ring_after_commit
from engine.gate import ASK_AGAIN, SPENT_AGAIN
from issues.effects import savepoint

TRIES = 3
"""A wakeup is delivered to so many runs that failed or were lost before it counts as finally failed."""

BACKOFF = (datetime.timedelta(seconds=30), datetime.timedelta(minutes=2), datetime.timedelta(minutes=10))
"""Until the next try, by tries so far; a provider's own wish counts if it is longer."""

SPREAD = 0.25
"""A wait is longer by up to this share of it, so that runs which failed together do not all come back together."""


def release_undelivered(run: Run, *, delivered: Collection[int]) -> None:
    """Give back at once what the prompt had no room for."""
    now = timezone.now()
    for wakeup in run.wakeups.filter(state=WakeupState.CLAIMED).exclude(pk__in=delivered).order_by("pk"):
        _return(wakeup, due_at=now, tries=wakeup.tries, because="The prompt before had no room for it.")


def give_back(run: Run, *, wait: float | None = None) -> bool:
    """Make the wakeups of a run that has ended pending again; those that were tried often enough are consumed. Whether
    all of them will be tried again.

    `wait` is in seconds: None for the backoff of their tries, else what the provider asked for, which counts if it is
    longer; 0 for a lost run, which says nothing about the provider.
    """
    wakeups = list(run.wakeups.select_for_update().filter(state=WakeupState.CLAIMED).order_by("pk"))
    again = [wakeup for wakeup in wakeups if wakeup.tries + 1 < TRIES]
    for wakeup in again:
        tries = wakeup.tries + 1
        _return(wakeup, due_at=_due(tries, wait), tries=tries, because=f"Try {tries} failed: {run.error}")
    if again:
        ring_after_commit()
    if len(again) < len(wakeups):
        consume_wakeups(run)
    return bool(again) and len(again) == len(wakeups)


def hold_back(run: Run, refusal: OverBudget) -> None:
    """Let the wakeups of a run that the budget ended wait for it. That is no try: what was asked is never dropped."""
    due_at = timezone.now() + (SPENT_AGAIN if refusal.is_spent else ASK_AGAIN)
    for wakeup in run.wakeups.select_for_update().filter(state=WakeupState.CLAIMED).order_by("pk"):
        _return(wakeup, due_at=due_at, tries=wakeup.tries, because=refusal.reason)


def _due(tries: int, wait: float | None) -> datetime.datetime:
    now = timezone.now()
    if wait == 0:
        return now
    least = max(BACKOFF[tries - 1], datetime.timedelta(seconds=wait or 0))
    return now + least * (1 + SPREAD * random.random())


def _return(wakeup: Wakeup, *, due_at: datetime.datetime, tries: int, because: str) -> None:
    """Make a claimed wakeup pending again, or let its pending twin stand for it."""
    wakeup.tries = tries
    for attempt in range(1, JOIN_TRIES + 1):
        twin = Wakeup.objects.select_for_update().filter(key=wakeup.key, state=WakeupState.PENDING).first()
        if twin is not None:
            _merge(wakeup, twin)
            return
        try:
            with savepoint():
                Wakeup.objects.filter(pk=wakeup.pk).update(
                    state=WakeupState.PENDING,
                    claimed_at=None,
                    run=None,
                    tries=tries,
                    due_at=due_at,
                    waiting_because=because[:300],
                )
            return
        except IntegrityError:  # a twin was committed in between: merge with it, unless it was claimed at once
            if attempt == JOIN_TRIES:
                raise


def _merge(wakeup: Wakeup, twin: Wakeup) -> None:
    """The twin keeps the higher count of tries, and what a person asked for stays asked for by a person."""
    twin.tries = max(twin.tries, wakeup.tries)
    twin.joined += wakeup.joined + 1
    if wakeup.is_from_person and not twin.is_from_person:
        twin.member_id, twin.chain_member_id = wakeup.member_id, wakeup.chain_member_id
        twin.depth, twin.chain = wakeup.depth, wakeup.chain
    if wakeup.note != twin.note:
        twin.note = "\n\n".join(filter(None, (wakeup.note, twin.note)))
    twin.save()
    wakeup.state, wakeup.ended_at = WakeupState.STALE, timezone.now()
    wakeup.ended_because = "An equal wakeup came meanwhile and stands for it."
    wakeup.save(update_fields=["state", "tries", "ended_at", "ended_because"])
