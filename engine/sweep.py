"""What the tick does: find what nobody took, what expired, what is due, and what was missed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import islice

import structlog
from django.db.models import Exists, F, Max, OuterRef
from django.utils import timezone

from agents.hours import hours_of, next_round
from agents.models import Agent, AgentStatus, DryRun, DryRunState, Pulse, Reservation, Routine, Run
from agents.services.routines import fire_routine
from agents.services.spending import settle
from agents.services.wakeups import MOST_BELLS, wake_on_schedule
from engine import leases
from engine.backups.aside import put_workspaces_aside
from engine.claim import RUN_DEADLINE, candidates
from engine.clock import follow_clock
from engine.doorbell import ring, ring_to_resume
from engine.dry_runs import tend_dry_runs
from engine.fence import Fenced
from engine.record import fail, lose
from engine.resume import MOST_ATTEMPTS
from engine.retention import drop_old_texts
from issues.actors import SYSTEM
from issues.audit_chain import seal_late_lines, seal_new_lines
from issues.effects import service
from issues.models import Attachment, Blocker, Extraction, Issue, Status
from issues.models.issue import CLOSED
from issues.services.files import read_attachment
from issues.services.transitions import release_waiting
from issues.tidying import make_left_behind, tidy_up

log = structlog.get_logger(__name__)

BATCH = 200
"""Rows of one kind looked at in one sweep; the next one goes on."""

_blocked_until = 0
"""Up to which id this process has looked whether blocked issues were forgotten."""

LEFT_BEHIND = timedelta(minutes=1)
"""Nobody who began to read an attachment is still at it after this."""

SEALED_EVERY = timedelta(minutes=5)
"""One row a company each time, where anything was written."""

MOST_SEALED = 20
"""Batches in one go: of a database that was not sealed so far, whose turn comes again."""

NOBODY_ASKS = RUN_DEADLINE + timedelta(minutes=1)
"""Nobody waits any more for a call that was begun when a run ended so long ago."""


def sweep() -> None:
    """Each part by itself: one that fails is logged and does not stop the others."""
    for part in (
        put_workspaces_aside,
        follow_clock,
        show_life,
        recover_expired,
        fire_routines,
        wake_scheduled,
        release_forgotten,
        read_left_behind,
        tend_dry_runs,
        settle_left_behind,
        ring_for_due,
        drop_old_texts,
        make_workspaces,
        seal_audit,
        tidy,
    ):
        _guarded(part)


def show_life() -> None:
    """Let others see that beat and worker are at work."""
    Pulse.objects.update_or_create(name="tick", defaults={"felt_at": timezone.now()})


def recover_expired() -> None:
    """End or resume the runs whose lease has expired."""
    live = Run.objects.live().only("attempt", "lease_counter", "lease_seconds")
    for seen in leases.watch.expired(list(live)):
        _guarded(partial(_recover, seen))


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
        hours = hours_of(agent)
        is_asleep = hours is not None and not hours.hold(now)  # a late sweep, or the company's zone was changed
        following = hours.first_from(now) if hours is not None and is_asleep else next_round(agent, now)
        taken = Agent.objects.filter(pk=agent.pk, next_schedule_at=agent.next_schedule_at)
        if taken.update(next_schedule_at=following) and following is not None and not is_asleep:
            _guarded(partial(wake_on_schedule, agent=agent))


def read_left_behind() -> None:
    """Read an attachment whose process ended before it had read it. One a sweep: each may take seconds."""
    since = timezone.now() - LEFT_BEHIND
    waiting = Attachment.objects.filter(extraction=Extraction.PENDING, created_at__lt=since).select_related("blob")
    attachment = waiting.order_by("pk").first()
    if attachment is not None:
        read_attachment(attachment)


def release_forgotten() -> None:
    """Move on blocked issues whose last blocker ended after they were blocked: the level behind the edge, should the
    wakeup ever be missed. What a person or the stall guard set to blocked is left alone."""
    open_links = Blocker.objects.open().filter(issue=OuterRef("pk"))
    forgotten = (
        Issue.objects.filter(~Exists(open_links), pk__in=_next_blocked(), blocker_links__isnull=False)
        .annotate(last_ended=Max("blocker_links__blocker__closed_at"))
        .filter(status=Status.BLOCKED, last_ended__gte=F("status_changed_at"))
    )
    for issue in forgotten:
        _guarded(partial(_release, issue))


def _next_blocked() -> list[int]:
    """The next blocked issues to look at, by id, from the last one looked at; after the last of all begins anew."""
    global _blocked_until
    blocked = Issue.objects.filter(status=Status.BLOCKED).order_by("pk").values_list("pk", flat=True)
    ids = list(blocked.filter(pk__gt=_blocked_until)[:BATCH])
    if len(ids) < BATCH:
        ids += blocked.filter(pk__lte=_blocked_until)[: BATCH - len(ids)]
    _blocked_until = ids[-1] if ids else 0
    return ids


def settle_left_behind() -> None:
    """Settle what was set aside for a call beside a run that has ended, a checkpoint's, and whose worker is gone: else
    it would lie in the budget for ever. It may have been billed. A dry re-run settles its own."""
    since = timezone.now() - NOBODY_ASKS
    is_rehearsed = Exists(DryRun.objects.filter(run=OuterRef("run"), state=DryRunState.RUNNING))
    for held in Reservation.objects.filter(~is_rehearsed, run__ended_at__lt=since)[:BATCH]:
        _guarded(partial(_settle, held))


def make_workspaces() -> None:
    if Pulse.objects.take_turn("workspaces", every=timedelta(minutes=1)):
        make_left_behind()


def seal_audit() -> None:
    """Close what was written since with a link of the chain over the audit, until nothing is left. Late lines first,
    for they are waited for by the time of the newest seal."""
    if not Pulse.objects.take_turn("sealing", every=SEALED_EVERY):
        return
    if Pulse.objects.take_turn("late sealing", every=timedelta(hours=1)):
        _seal_all(seal_late_lines)
    _seal_all(seal_new_lines)


def _seal_all(seal_some: Callable[[], int]) -> None:
    for _ in range(MOST_SEALED):
        if not seal_some():
            break


def tidy() -> None:
    if Pulse.objects.take_turn("tidying", every=timedelta(hours=1)):
        tidy_up()


def ring_for_due() -> None:
    """Ring once for each pair of agent and issue that could start, a few times at most."""
    for _ in islice(candidates(timezone.now()), MOST_BELLS):
        if not ring():  # each further try could cost a second, and the next sweep comes by
            return


def _recover(seen: Run) -> None:
    """Let the run of an expired lease go on or end, unless it has moved since it was looked at."""
    run = (
        Run.objects.live()
        .select_related("company", "agent", "issue__company", "issue__responsible__user")
        .filter(pk=seen.pk, attempt=seen.attempt, lease_counter=seen.lease_counter)
        .first()
    )
    if run is None:
        return
    if run.reply is None:
        lose(run)
    elif run.attempt < MOST_ATTEMPTS:
        ring_to_resume(run.pk, run.attempt)
    else:
        _give_up(run)


def _give_up(run: Run) -> None:
    try:
        fail(run, "error", f"Its reply could not be applied: {run.attempt} workers ended over it.")
    except Fenced as fenced:
        log.info("run.fenced", run=run.pk, why=str(fenced))


@service
def _release(issue: Issue) -> None:
    last = issue.blockers.filter(status__in=CLOSED).select_related("company").order_by("-closed_at").first()
    if last is not None:
        release_waiting(last, SYSTEM, [issue.pk])


@service
def _settle(seen: Reservation) -> None:
    """Settle this one and no other that was made for the run since."""
    held = Reservation.objects.select_for_update(of=("self",)).filter(pk=seen.pk)
    for reservation in held.select_related("run__company", "run__agent"):
        settle(reservation.run, None)


def _guarded(part: Callable[[], object]) -> None:
    try:
        part()
    except Exception:
        log.exception("sweep.part_failed")
