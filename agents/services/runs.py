"""Runs from outside: cancelling, and the checkout of an issue by an agent that works elsewhere."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from django.conf import settings
from django.db import IntegrityError
from django.db.models import F
from django.utils import timezone

from agents.models import Adapter, Agent, Run, RunState, Wakeup, WakeupState
from agents.models.run import LIVE
from agents.services.spending import NOTHING, reserve, settle, settle_unknown
from agents.services.wakeups import last_asked, leading_wakeup, ring_after_commit, run_heartbeat
from issues.activity import record
from issues.actors import Actor, Person, Worker
from issues.effects import savepoint, service
from issues.models import Company, CompanyStatus, Issue, Member
from issues.policies import Right, require, require_belonging
from issues.refusals import Conflict, Forbidden, NotFound
from issues.services.locks import lock_company, lock_issue

EXTERNAL_LEASE = datetime.timedelta(minutes=15)
"""How long an outside agent's checkout stands after its last call."""

RATE_WINDOW = datetime.timedelta(hours=1)
"""In which an agent may have so many runs on one issue as its company allows."""

_OVER = {
    RunState.QUEUED: "was queued again",
    RunState.RUNNING: "went on as another try",
    RunState.SUCCEEDED: "succeeded",
    RunState.FAILED: "failed",
    RunState.LOST: "was lost",
    RunState.CANCELLED: "was cancelled",
}
"""What became of a run that can no longer be cancelled."""


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
        raise Conflict(f"The run is over: it {_OVER[RunState(run.state)]}.")
    consume_wakeups(run)
    settle_unknown(run)
    record(actor, "run.ended", issue if issue is not None else run.company, run=run.pk, state=run.state)
    ring_after_commit()  # the issue is free for whoever waits
    return run


def retry_run(*, actor: Actor, run: Run) -> Wakeup:
    """Let the same agent look at the same issue once more, as things stand now. Conflict, with the reason, if it
    cannot."""
    if run.issue is None:
        raise Conflict("The issue of this run was deleted.")
    return run_heartbeat(actor=actor, agent=run.agent, issue=run.issue)


@service
def check_out(*, actor: Actor, issue: Issue, agent: Agent | None = None, delivering: bool = True) -> Run:
    """Claim the issue for an agent that works outside of Trimus: a run of adapter `external` that its key keeps alive.
    It delivers the agent's pending wakeups there, unless they are to stay pending. It counts as a run in budgets, and
    what its calls cost is paid elsewhere.

    An agent claims for itself; a person may claim for an agent, and then begins a chain. Conflict names the holder and
    since when, or says why the agent cannot start.
    """
    worker = _claimant(actor, issue, agent)
    company = lock_company(issue.company)  # as every start does: no two count the same free place
    issue = lock_issue(issue)
    worker = Agent.objects.select_for_update(no_key=True).get(pk=worker.pk)
    held = issue.runs.live().select_related("agent").first()
    if held is not None:
        raise held_by(held, asked_by=worker)
    reason = why_no_start(company, worker, list(company.runs.live().values_list("agent", flat=True)))
    reason = reason or why_installation_full(Run.objects.live().count() if settings.MAX_RUNS else 0)
    if reason is not None:
        raise Conflict(reason)
    pending = Wakeup.objects.filter(agent=worker, issue=issue, state=WakeupState.PENDING)
    wakeups = list(pending.select_for_update().order_by("pk"))
    begun_by = actor.member_in(company) if isinstance(actor, Person) else None
    if begun_by is None and not any(wakeup.is_from_person for wakeup in wakeups):
        _check_rate(worker, issue)
    if delivering:
        leading = leading_wakeup(wakeups) if wakeups else None
    else:
        leading, wakeups = last_asked(worker, issue), []
    run = _external_run(worker, issue, leading, begun_by)
    try:
        with savepoint():
            run.save(force_insert=True)
    except IntegrityError:
        raise held_by(issue.runs.live().select_related("agent").get()) from None
    reserve(run, NOTHING, starts_run=True)
    Wakeup.objects.filter(pk__in=[wakeup.pk for wakeup in wakeups]).update(
        state=WakeupState.CLAIMED, claimed_at=run.started_at, run=run
    )
    record(actor, "run.started", issue, run=run.pk, agent=worker.pk)
    return run


@service
def release(*, actor: Actor, issue: Issue) -> Run:
    """Give an outside agent's checkout back. A person's release of a worker's run is a cancel."""
    require_belonging(actor, issue.company)
    run = issue.runs.live().select_related("agent", "company", "issue__company").first()
    if run is None:
        raise Conflict("Nobody holds this issue.")
    if not isinstance(actor, Worker):
        return cancel_run(actor=actor, run=run)
    if actor.agent.pk != run.agent_id:
        raise held_by(run)
    if run.adapter != Adapter.EXTERNAL:
        raise Conflict("The run is a worker's own and ends by itself.")
    now = timezone.now()
    if not Run.objects.filter(pk=run.pk, state__in=LIVE).update(state=RunState.SUCCEEDED, ended_at=now):
        raise Conflict("The checkout has ended meanwhile.")
    run.refresh_from_db()
    consume_wakeups(run)
    settle(run, NOTHING)
    record(actor, "run.ended", issue, run=run.pk, state=run.state)
    ring_after_commit()
    return run


def why_no_start(company: Company, agent: Agent, at_work: Sequence[int]) -> str | None:
    """Why the agent cannot begin another run now, whatever it works with; asked under the locks of both rows. `at_work`
    are the agents of the company's live runs, by id."""
    if company.status != CompanyStatus.ACTIVE:
        return "The company is paused."
    if not agent.is_active:
        return f"@{agent.handle} is {agent.get_status_display().lower()}."
    if at_work.count(agent.pk) >= agent.max_concurrent_runs:
        return f"@{agent.handle} is at work on {count_runs(agent.max_concurrent_runs)} already."
    if len(at_work) >= company.max_concurrent_runs:
        return f"The company has {count_runs(company.max_concurrent_runs)} under way, its limit."
    return None


def why_installation_full(live: int) -> str | None:
    """Why nobody begins another run while so many are under way; None without a limit, or below it."""
    if settings.MAX_RUNS and live >= settings.MAX_RUNS:
        return f"This installation has {count_runs(live)} under way, its limit."
    return None


def rated_until(agent: Agent, issue: Issue, now: datetime.datetime) -> datetime.datetime | None:
    """Until when the agent has had as many runs on the issue within an hour as its company allows; None: it has not."""
    limit = agent.company.runs_per_hour
    # Up to now: a clock that was set back would else make them wait for as much longer.
    window = (now - RATE_WINDOW, now)
    recent = Run.objects.filter(agent=agent, issue=issue, created_at__range=window).order_by("-created_at")
    starts = list(recent.values_list("created_at", flat=True)[:limit])
    return None if len(starts) < limit else starts[-1] + RATE_WINDOW


def why_rated(company: Company) -> str:
    """Why an agent waits that was too often on an issue."""
    return f"{company.runs_per_hour} runs of this agent here within an hour, the limit."


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


def held_by(run: Run, *, asked_by: Agent | None = None) -> Conflict:
    """The refusal for an issue that a run holds: by whom, since when. An agent that holds it itself is told so: it may
    have lost the answer to its claim."""
    is_own = asked_by == run.agent and run.adapter == Adapter.EXTERNAL
    return CheckedOut(
        f"{run.agent} holds this issue since {run.created_at:%Y-%m-%d %H:%M} UTC.",
        holder=run.agent.handle,
        since=run.created_at,
        run_id=run.pk,
        hint="It is this agent's own checkout: go on, or release it." if is_own else "Wait until it is released.",
    )


class CheckedOut(Conflict):
    """The issue is checked out."""

    def __init__(self, reason: str, *, holder: str, since: datetime.datetime, run_id: int, hint: str) -> None:
        super().__init__(reason, hint)
        self.holder = holder
        self.since = since
        self.run_id = run_id
        self.facts = {"holder": holder, "since": since.isoformat(), "run": run_id}


def _claimant(actor: Actor, issue: Issue, agent: Agent | None) -> Agent:
    if isinstance(actor, Worker):
        require_belonging(actor, issue.company)
        if agent is not None and agent.pk != actor.agent.pk:
            raise Forbidden("An agent claims for itself only.")
        return actor.agent
    require(actor, Right.RUN, issue)
    if agent is None:
        raise Forbidden("Only an agent holds an issue.", "Name the agent to claim it for.")
    if agent.company_id != issue.company_id:
        raise NotFound("There is no such agent.")
    return agent


def _check_rate(agent: Agent, issue: Issue) -> None:
    until = rated_until(agent, issue, timezone.now())
    if until is not None:
        raise Conflict(why_rated(issue.company), f"Go on at {until:%H:%M} UTC; all you do in one checkout is one run.")


def _external_run(agent: Agent, issue: Issue, leading: Wakeup | None, begun_by: Member | None) -> Run:
    """A run with its place in the chain: a person who claims begins one, else the leading wakeup's is continued."""
    now = timezone.now()
    leading = leading if begun_by is None else None
    return Run(
        company=issue.company,
        agent=agent,
        issue=issue,
        state=RunState.RUNNING,
        adapter=Adapter.EXTERNAL,
        depth=leading.depth if leading is not None else 0,
        chain=leading.chain if leading is not None else None,
        chain_member=leading.chain_member if leading is not None else begun_by,
        started_at=now,
        lease_seconds=int(EXTERNAL_LEASE.total_seconds()),
        deadline_at=now + EXTERNAL_LEASE,
    )


def count_runs(number: int) -> str:
    """One run, 7 runs."""
    return "one run" if number == 1 else f"{number:,} runs"
