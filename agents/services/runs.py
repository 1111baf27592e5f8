"""Runs from outside: cancelling, and the checkout of an issue by an agent that works elsewhere."""

from __future__ import annotations

import datetime

from django.db import IntegrityError
from django.db.models import F
from django.utils import timezone

from agents.models import Adapter, Agent, Run, RunState, Wakeup, WakeupState
from agents.models.run import LIVE
from issues.activity import record
from issues.actors import Actor, Person, Worker
from issues.effects import savepoint, service
from issues.models import Issue, Member
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden
from issues.services.locks import lock_issue

EXTERNAL_LEASE = datetime.timedelta(minutes=15)
"""How long an outside agent's checkout stands after its last call."""


@service
def cancel_run(*, actor: Actor, run: Run) -> Run:
    """End a live run: its checkout is free at once, its wakeups are consumed, and an answer that still comes is
    fenced off. Compare-and-set, so that it needs no worker. Conflict if the run has ended."""
    issue = run.issue
    member = require(actor, Right.RUN, issue if issue is not None else run.company)
    now = timezone.now()
    ended = Run.objects.filter(pk=run.pk, state__in=LIVE).update(
        state=RunState.CANCELLED,
        ended_at=now,
        ended_by=member,
        error=f"{actor} cancelled the run.",
        attempt=F("attempt") + 1,
    )
    run.refresh_from_db()
    if not ended:
        raise Conflict(f"The run has already {run.get_state_display().lower()}.")
    consume_wakeups(run)
    if issue is not None:
        record(actor, "run.ended", issue, run=run.pk, state=run.state)
    return run


@service
def check_out(*, actor: Actor, issue: Issue, agent: Agent | None = None) -> Run:
    """Claim the issue for an agent that works outside of Trimus: a run of adapter `external` that its key keeps alive.

    An agent claims for itself; a person may claim for an agent. Conflict names the holder and since when.
    """
    worker = _claimant(actor, issue, agent)
    issue = lock_issue(issue)
    if worker.company_id != issue.company_id:
        raise Forbidden("That agent is of another company.")
    if not worker.is_active:
        raise Conflict(f"@{worker.handle} is {worker.get_status_display().lower()}.")
    held = issue.runs.live().select_related("agent").first()
    if held is not None:
        raise held_by(held)
    now = timezone.now()
    run = Run(
        company=issue.company,
        agent=worker,
        issue=issue,
        state=RunState.RUNNING,
        adapter=Adapter.EXTERNAL,
        started_at=now,
        lease_seconds=int(EXTERNAL_LEASE.total_seconds()),
        deadline_at=now + EXTERNAL_LEASE,
        chain_member=actor.member_in(issue.company) if isinstance(actor, Person) else None,
    )
    try:
        with savepoint():
            run.save(force_insert=True)
    except IntegrityError:
        raise held_by(issue.runs.live().select_related("agent").get()) from None
    Wakeup.objects.filter(agent=worker, issue=issue, state=WakeupState.PENDING).update(
        state=WakeupState.CLAIMED, claimed_at=now, run=run
    )
    record(actor, "run.started", issue, run=run.pk, agent=worker.pk)
    return run


@service
def release(*, actor: Actor, issue: Issue) -> Run:
    """Give an outside agent's checkout back. A person's release of a worker's run is a cancel."""
    run = issue.runs.live().select_related("agent", "company", "issue__company").first()
    if run is None:
        raise Conflict("Nobody holds this issue.")
    if isinstance(actor, Worker) and actor.agent.pk != run.agent_id:
        raise held_by(run)
    if not isinstance(actor, Worker):
        return cancel_run(actor=actor, run=run)
    if run.adapter != Adapter.EXTERNAL:
        raise Conflict("The run is a worker's own and ends by itself.")
    now = timezone.now()
    if not Run.objects.filter(pk=run.pk, state__in=LIVE).update(state=RunState.SUCCEEDED, ended_at=now):
        raise Conflict("The checkout has ended meanwhile.")
    run.refresh_from_db()
    consume_wakeups(run)
    record(actor, "run.ended", issue, run=run.pk, state=run.state)
    return run


def touch_external(run: Run) -> None:
    """Any call of its key keeps an outside agent's checkout alive."""
    Run.objects.filter(pk=run.pk, adapter=Adapter.EXTERNAL, state__in=LIVE).update(
        lease_counter=F("lease_counter") + 1, deadline_at=timezone.now() + EXTERNAL_LEASE
    )


def consume_wakeups(run: Run) -> None:
    """The run has delivered its wakeups, or will not any more."""
    Wakeup.objects.filter(run=run, state=WakeupState.CLAIMED).update(
        state=WakeupState.CONSUMED, ended_at=timezone.now()
    )


def held_by(run: Run) -> Conflict:
    """The refusal for an issue that a run holds: by whom, since when."""
    return CheckedOut(
        f"{run.agent} holds this issue since {run.created_at:%Y-%m-%d %H:%M} UTC.",
        holder=run.agent.handle,
        since=run.created_at,
        run_id=run.pk,
    )


class CheckedOut(Conflict):
    """The issue is checked out."""

    def __init__(self, reason: str, *, holder: str, since: datetime.datetime, run_id: int) -> None:
        super().__init__(reason, "Wait until it is released.")
        self.holder = holder
        self.since = since
        self.run_id = run_id
        self.facts = {"holder": holder, "since": since.isoformat(), "run": run_id}


def _claimant(actor: Actor, issue: Issue, agent: Agent | None) -> Agent:
    if isinstance(actor, Worker):
        if agent is not None and agent.pk != actor.agent.pk:
            raise Forbidden("An agent claims for itself only.")
        return actor.agent
    member: Member | None = require(actor, Right.RUN, issue)
    if member is None or agent is None:
        raise Forbidden("Only an agent holds an issue.", "Name the agent to claim it for.")
    return agent
