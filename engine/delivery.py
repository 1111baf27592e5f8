"""What becomes of a run's wakeups: each is pending again until one run has delivered it, or it was tried enough."""

from __future__ import annotations

import datetime
import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import Agent, Run, Wakeup, WakeupState
from agents.services.agents import TERMINATED
from agents.services.runs import consume_wakeups
from agents.services.wakeups import JOIN_TRIES, ring_after_commit
from engine.gate import ASK_AGAIN, Wait
from issues.effects import savepoint

TRIES = 3
"""A wakeup is delivered to so many runs that failed or were lost before it counts as finally failed."""

BACKOFF = (datetime.timedelta(seconds=30), datetime.timedelta(minutes=2), datetime.timedelta(minutes=10))
"""Until the next try, by tries so far; a provider's own wish counts if it is longer."""

SPREAD = 0.25
"""A wait is longer by up to this share of it, so that runs which failed together do not all come back together."""


def release_undelivered(run: Run, undelivered: Collection[int]) -> None:
    """Give back at once what the prompt had no room for, by ids."""
    released = _claimed(run).filter(pk__in=undelivered)
    _return(list(released), due_at=timezone.now(), because="The prompt before had no room for it.")


def give_back(run: Run, *, wait: float | None = None) -> bool:
    """Make the wakeups of a run that has ended pending again; those that were tried often enough are consumed. Whether
    all of them will be tried again.

    `wait` is in seconds: None for the backoff of their tries, else what the provider asked for, which counts if it is
    longer; 0 for a lost run, which says nothing about the provider.
    """
    wakeups = list(_claimed(run))
    again: dict[int, list[Wakeup]] = defaultdict(list)
    for wakeup in wakeups:
        wakeup.tries += 1
        if wakeup.tries < TRIES:
            again[wakeup.tries].append(wakeup)
    for tries, returning in again.items():
        _return(returning, due_at=_due(tries, wait), because=f"Try {tries} failed: {run.error}", tries=tries)
    if again:
        ring_after_commit()
    is_whole = sum(map(len, again.values())) == len(wakeups)
    if not is_whole:
        consume_wakeups(run)
    return bool(again) and is_whole


def hold_back(run: Run, wait: Wait) -> None:
    """Let the wakeups of a run wait for what it lacked: a budget, or a provider. That is no try: what was asked is
    never dropped."""
    _return(list(_claimed(run)), due_at=wait.until or timezone.now() + ASK_AGAIN, because=wait.reason)


def put_back(run: Run) -> None:
    """Make the wakeups of a run that was given up pending again at once. That is no try."""
    _return(list(_claimed(run)), due_at=timezone.now(), because=run.error)


def _claimed(run: Run) -> QuerySet[Wakeup]:
    return run.wakeups.select_for_update().filter(state=WakeupState.CLAIMED).order_by("pk")


def _due(tries: int, wait: float | None) -> datetime.datetime:
    now = timezone.now()
    if wait == 0:
        return now
    least = max(BACKOFF[tries - 1], datetime.timedelta(seconds=wait or 0))
    return now + least * (1 + SPREAD * random.random())


def _return(wakeups: Sequence[Wakeup], *, due_at: datetime.datetime, because: str, **values: Any) -> None:
    """Make claimed wakeups pending again, with these values; where one has a pending twin, that stands for it. Of equal
    ones, which a run has when the second came before its prompt was built, the first stands for all. Of an agent that
    was terminated meanwhile they end, as its pending ones did."""
    if not wakeups or _end_unheard(wakeups):
        return
    values |= {"due_at": due_at, "waiting_because": because[:300]}
    first = {wakeup.key: wakeup for wakeup in reversed(wakeups)}
    _return_unequal(list(first.values()), values)
    for wakeup in wakeups:
        if wakeup is not first[wakeup.key]:
            _return_unequal([wakeup], values)


def _end_unheard(wakeups: Sequence[Wakeup]) -> bool:
    """Whether the agent was terminated, and these wakeups of one run of its ended therefore."""
    if Agent.objects.present().filter(pk=wakeups[0].agent_id).exists():
        return False
    Wakeup.objects.filter(pk__in=[wakeup.pk for wakeup in wakeups]).update(
        state=WakeupState.STALE, ended_because=TERMINATED, ended_at=timezone.now()
    )
    return True


def _return_unequal(wakeups: Sequence[Wakeup], values: Mapping[str, Any]) -> None:
    for attempt in range(1, JOIN_TRIES + 1):
        twins = Wakeup.objects.select_for_update().filter(
            key__in=[wakeup.key for wakeup in wakeups], state=WakeupState.PENDING
        )
        by_key = {twin.key: twin for twin in twins.order_by("pk")}
        alone = [wakeup for wakeup in wakeups if wakeup.key not in by_key]
        try:
            with savepoint():
                Wakeup.objects.filter(pk__in=[wakeup.pk for wakeup in alone]).update(
                    state=WakeupState.PENDING, claimed_at=None, run=None, **values
                )
        except IntegrityError:  # a twin was committed in between: merge with it, unless it was claimed at once
            if attempt == JOIN_TRIES:
                raise
            continue
        for wakeup in wakeups:
            if wakeup.key in by_key:
                _merge(wakeup, by_key[wakeup.key])
        return


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
