"""What the tick does: find what nobody took, what expired, what is due, and what was missed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import structlog
from django.db.models import F, Max
from django.utils import timezone

from agents.models import Adapter, Agent, AgentStatus, Routine, Run, RunState, Wakeup, WakeupState
from agents.models.run import LIVE
from agents.services.routines import fire_routine
from agents.services.wakeups import wake_on_schedule
from engine import leases
from engine.doorbell import ring
from engine.record import lose
from issues.actors import SYSTEM
from issues.effects import unit
from issues.models import Blocker, Issue, Status
from issues.models.issue import CLOSED
from issues.services.transitions import release_waiting

log = structlog.get_logger(__name__)

BATCH = 200
"""Rows of one kind looked at in one sweep; the next one goes on."""


def sweep() -> None:
    """Each part by itself: one that fails is logged and does not stop the others."""
    for part in (recover_expired, fire_routines, wake_scheduled, release_forgotten, ring_for_due):
        _guarded(part)


def recover_expired() -> None:
    """End or resume the runs whose lease has expired."""
    live = list(Run.objects.filter(state__in=LIVE).select_related("company", "agent", "issue__company"))
    for run in leases.watch.expired(live):
        if run.reply is not None and run.applied_at is None and run.state == RunState.RUNNING:
            _resume(run)
        else:
            lose(run)


def fire_routines() -> None:
    now = timezone.now()
    due = Routine.objects.filter(enabled=True, next_fire_at__lte=now).order_by("next_fire_at")[:BATCH]
    for routine in due:
        # Pushed forward before the risky step, inside: a routine that cannot fire does not hold up the others.
        _guarded(partial(fire_routine, routine=routine, now=now))


def wake_scheduled() -> None:
    """Wake the agents whose interval came round. Each is pushed forward first, by compare-and-set: two sweeps at once
    wake it once, and one that cannot be woken does not hold up the others."""
    now = timezone.now()
    due = Agent.objects.filter(status=AgentStatus.ACTIVE, next_schedule_at__lte=now).select_related("company")
    for agent in due.order_by("next_schedule_at")[:BATCH]:
        minutes = agent.schedule_minutes
        following = now + timedelta(minutes=minutes) if minutes is not None else None
        taken = Agent.objects.filter(pk=agent.pk, next_schedule_at=agent.next_schedule_at)
        if taken.update(next_schedule_at=following) and following is not None:
            _guarded(partial(wake_on_schedule, agent=agent))


def release_forgotten() -> None:
    """Move on blocked issues whose last blocker ended after they were blocked: the level behind the edge, should the
    wakeup ever be missed. What a person or the stall guard set to blocked is left alone."""
    forgotten = (
        Issue.objects.filter(status=Status.BLOCKED, blocker_links__isnull=False)
        .exclude(pk__in=Blocker.objects.open().values("issue"))
        .annotate(last_ended=Max("blocker_links__blocker__closed_at"))
        .filter(last_ended__gte=F("status_changed_at"))[:BATCH]
    )
    for issue in forgotten:
        last = issue.blockers.filter(status__in=CLOSED).select_related("company").order_by("-closed_at").first()
        if last is not None:
            with unit():
                release_waiting(last, SYSTEM, [issue.pk])


def ring_for_due() -> None:
    """Ring once for each agent that has something due, so that as many slots look."""
    due = Wakeup.objects.filter(state=WakeupState.PENDING, due_at__lte=timezone.now(), agent__adapter=Adapter.LLM)
    for _ in range(min(due.values("agent", "issue").distinct().count(), BATCH)):
        ring()


def _resume(run: Run) -> None:
    from engine.tasks import resume

    try:
        resume.apply_async((run.pk,), retry=False)
    except Exception as error:  # the broker is down: the next sweep comes by again
        log.warning("sweep.resume_not_sent", run=run.pk, error=str(error))


def _guarded(part: Callable[[], object]) -> None:
    try:
        part()
    except Exception:
        log.exception("sweep.part_failed")
