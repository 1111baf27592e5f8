"""Claiming: all pending wakeups of one agent on one issue become one run, which is the issue's checkout."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from django.db.models import Case, Q, QuerySet, When
from django.utils import timezone

from agents.models import Agent, AgentStatus, Run, RunState, Wakeup, WakeupState
from agents.services.spending import OverBudget, reserve
from agents.services.wakeups import leading_wakeup
from engine import fence
from engine.ceiling import claim_ceiling
from engine.gate import ASK_AGAIN, Closed, Wait, enter, open_route, until_budget, why_wait
from engine.routing import Route
from engine.staleness import why_stale
from issues.activity import record
from issues.actors import SYSTEM
from issues.effects import savepoint, service
from issues.models import Company, CompanyStatus, Issue
from issues.prepared import Prepared, PreparedInstances
from trimus.outages import why_out

log = structlog.get_logger(__name__)

CANDIDATES = 50
"""Pairs of agent and issue looked at in one go."""

RUN_DEADLINE = datetime.timedelta(minutes=10)
"""A run's lease is not renewed after this, so that a hung thread does not hold an issue for ever."""

PROGRAM_DEADLINE = datetime.timedelta(minutes=60)
"""The same for an agent that is a program: it does in one run what others do in many."""


def claim_next() -> Run | None:
    """Claim the next pair of agent and issue that may start, or None. Who claims it first has it: others go on to the
    next pair."""
    return next(claim_some(1), None)


def claim_some(most: int) -> Iterator[Run]:
    """Claim so many pairs one after the other, of an agent and of an issue one each. It ends early with the first that
    may not start after others have: it is to be looked anew who comes first."""
    agents, issues = set[int](), set[int]()
    for agent_id, issue_id in candidates(timezone.now()):
        if agent_id in agents or issue_id in issues:
            continue  # it may have no place for a second one
        run = _claim_or_set_aside(agent_id, issue_id)
        if run is not None:
            agents.add(agent_id)
            issues.add(issue_id)
            yield run
        if agents and (run is None or len(agents) == most):
            return


def _claim_or_set_aside(agent_id: int, issue_id: int) -> Run | None:
    """The pair's run, if it may start. One over which claiming breaks down does not hold up those behind it."""
    try:
        return claim(agent_id, issue_id)
    except Exception as error:
        if why_out(error):
            raise
        log.exception("claim.failed", agent=agent_id, issue=issue_id)
        _set_aside(agent_id, issue_id, type(error).__name__)
        return None


def candidates(now: datetime.datetime) -> Iterator[tuple[int, int]]:
    """Pairs with a due wakeup that could start: of the company with the fewest runs first, so that none starves
    another; there a person's wakeups, then by the issue's priority, then the oldest."""
    at_work = AtWork.now()
    due = (
        startable(now, at_work)
        .order_by(*at_work.fewest_runs_first(), Case(When(member=None, then=1), default=0), "issue__priority", "pk")
        .values_list("agent_id", "issue_id")[:CANDIDATES]
    )
    yield from dict.fromkeys(due)


def startable(due: datetime.datetime, at_work: AtWork) -> QuerySet[Wakeup]:
    """Wakeups that are due by then, of agents and companies at work that have a place for another run, on issues that
    nobody holds."""
    return Wakeup.objects.filter(
        state=WakeupState.PENDING,
        due_at__lte=due,
        agent__status=AgentStatus.ACTIVE,
        company__status=CompanyStatus.ACTIVE,
    ).exclude(Q(issue__in=at_work.issues) | Q(agent__in=at_work.full_agents) | Q(company__in=at_work.full_companies))


@dataclass(frozen=True, slots=True)
class AtWork:
    """Who is at work: issues that are held, agents and companies that have no place for another run, and how many runs
    each company has. All by id. There are never more live runs than slots of all workers."""

    issues: Sequence[int]
    full_agents: Sequence[int]
    full_companies: Sequence[int]
    company_runs: Mapping[int, int]

    @classmethod
    def now(cls) -> AtWork:
        issues, agents, companies = [], Counter[int](), Counter[int]()
        agent_limits, company_limits = {}, {}
        for issue, agent, company, agent_limit, company_limit in _live.rows():
            issues.append(issue)
            agents[agent] += 1
            companies[company] += 1
            agent_limits[agent], company_limits[company] = agent_limit, company_limit
        return cls(
            issues=[issue for issue in issues if issue is not None],
            full_agents=[agent for agent, runs in agents.items() if runs >= agent_limits[agent]],
            full_companies=[company for company, runs in companies.items() if runs >= company_limits[company]],
            company_runs=companies,
        )

    def fewest_runs_first(self) -> list[Case]:
        """How to order by the company's runs: not at all while there are none, for PostgreSQL takes a bare 0 for the
        number of a column."""
        runs_of = [When(company=company, then=runs) for company, runs in self.company_runs.items()]
        return [Case(*runs_of, default=0)] if runs_of else []


_live = Prepared(
    lambda: Run.objects.live().values_list(
        "issue", "agent", "company", "agent__max_concurrent_runs", "company__max_concurrent_runs"
    )
)


@service
def claim(agent_id: int, issue_id: int) -> Run | None:
    """Make one run of the pair's pending wakeups, unless somebody else is at it or the gate says wait."""
    locked = _lock(agent_id, issue_id)
    if locked is None:
        return None
    company, agent, issue, pending = locked
    now = timezone.now()
    wakeups = _living(pending, issue, now)
    if not any(wakeup.due_at <= now for wakeup in wakeups):
        return None
    wait = why_wait(company, agent, issue, wakeups, now)
    if wait is not None:
        _hold_back(wakeups, wait)
        return None
    try:
        opening = open_route(agent, now)
        with savepoint():
            run = start(company, agent, issue, wakeups, now, opening.route)
            reserve(run, claim_ceiling(agent), starts_run=True)
            enter(opening, run, now)
    except OverBudget as refusal:
        _hold_back(wakeups, until_budget(refusal, now))
        return None
    except Closed as refusal:
        _hold_back(wakeups, refusal.wait)
        return None
    return run


def deliverable(wakeups: QuerySet[Wakeup], agent_id: int, issue_id: int, run_id: int) -> QuerySet[Wakeup]:
    """Those that the run has claimed, and those that have come since for its agent on its issue; held."""
    pending = Q(agent=agent_id, issue=issue_id, state=WakeupState.PENDING)
    held = wakeups.select_for_update(of=("self",)).order_by("pk")  # as claims hold them: else both could wait
    return held.filter(pending | Q(run=run_id, state=WakeupState.CLAIMED))


def take_in_late(run: Run, issue: Issue, wakeups: Sequence[Wakeup]) -> list[Wakeup]:
    """The wakeups that the run delivers, of the `deliverable` ones, also those that arrived since the claim: in the
    transaction that reads the prompt's context."""
    now = timezone.now()
    late = _living([wakeup for wakeup in wakeups if wakeup.run_id is None], issue, now)
    if late:
        Wakeup.objects.filter(pk__in=[wakeup.pk for wakeup in late]).update(
            state=WakeupState.CLAIMED, claimed_at=now, run=run, waiting_because=""
        )
    delivered = [wakeup for wakeup in wakeups if wakeup.run_id == run.pk or wakeup in late]
    if late and (leading := leading_wakeup(delivered)) in late:
        fence.write(run, **_place_of(leading))  # a person's, say: with it their chain begins
    return delivered


def _lock(agent_id: int, issue_id: int) -> tuple[Company, Agent, Issue, list[Wakeup]] | None:
    """Company and agent, held, so that no two starts count the same free place; their issue with its pending wakeups,
    held too. None if there are none any more, or another claim holds the agent."""
    company, agent = _company_of.first(agent_id), _free_agent.first(agent_id)
    pending = _pending.all(agent_id, issue_id)
    if company is None or agent is None or not pending:
        return None
    issue = pending[0].issue
    agent.company = issue.company = company
    return company, agent, issue, pending


_company_of = PreparedInstances(
    lambda agent: Company.objects.select_for_update(of=("self",), no_key=True).filter(agents=agent)
)
_free_agent = PreparedInstances(
    lambda agent: Agent.objects.select_for_update(skip_locked=True, no_key=True).filter(pk=agent)
)
_pending = PreparedInstances(
    lambda agent, issue: (
        Wakeup.objects.select_for_update(of=("self",))
        .select_related("chain_member", "issue")
        .filter(agent=agent, issue=issue, state=WakeupState.PENDING)
        .order_by("pk")
    )
)


def _living(pending: Sequence[Wakeup], issue: Issue, now: datetime.datetime) -> list[Wakeup]:
    """Those of the held wakeups that still make sense; the others end as stale, with the reason."""
    living = []
    for wakeup in pending:
        reason = why_stale(wakeup, issue)
        if not reason:
            living.append(wakeup)
            continue
        wakeup.state, wakeup.ended_because, wakeup.ended_at = WakeupState.STALE, reason, now
        wakeup.save(update_fields=["state", "ended_because", "ended_at"])
    return living


def _hold_back(wakeups: Sequence[Wakeup], wait: Wait) -> None:
    """Note why they have not started; written only when it changes, as every sweep comes by here."""
    reason = wait.reason[:300]
    for wakeup in wakeups:
        due = max(wakeup.due_at, wait.until or wakeup.due_at)
        if (wakeup.waiting_because, wakeup.due_at) != (reason, due):
            wakeup.waiting_because, wakeup.due_at = reason, due
            wakeup.save(update_fields=["waiting_because", "due_at"])


@service
def _set_aside(agent_id: int, issue_id: int, error: str) -> None:
    """Let the pair's wakeups wait, and say that something is wrong."""
    pending = Wakeup.objects.select_for_update().filter(agent=agent_id, issue=issue_id, state=WakeupState.PENDING)
    reason = f"It could not be started ({error}); the worker's log says more."
    _hold_back(list(pending.order_by("pk")), Wait(reason, until=timezone.now() + ASK_AGAIN))


def _place_of(leading: Wakeup) -> dict[str, Any]:
    """Where a run stands whose leading wakeup this is, as fields."""
    return {
        "depth": 0 if leading.is_from_person else leading.depth,
        "chain": leading.chain,
        "chain_member": leading.chain_member,
    }


def start(
    company: Company,
    agent: Agent,
    issue: Issue,
    wakeups: list[Wakeup],
    now: datetime.datetime,
    route: Route | None = None,
) -> Run:
    """Make the run of these pending wakeups, which is the issue's checkout. The caller holds the company, as all who
    start runs do, and has asked the gate. `route` is whom it will ask, None if nobody."""
    leading = leading_wakeup(wakeups)
    run = Run(
        company=company,
        agent=agent,
        issue=issue,
        state=RunState.RUNNING,
        adapter=agent.adapter,
        provider=agent.provider,
        endpoint=route.key if route is not None else "",
        **_place_of(leading),
        lease_seconds=settings.LEASE_SECONDS,
        started_at=now,
        deadline_at=now + (PROGRAM_DEADLINE if agent.is_program else RUN_DEADLINE),
    )
    run.save(force_insert=True)
    Wakeup.objects.filter(pk__in=[wakeup.pk for wakeup in wakeups]).update(
        state=WakeupState.CLAIMED, claimed_at=now, run=run, waiting_because=""
    )
    record(SYSTEM, "run.started", issue, run=run.pk, agent=agent.pk)
    return run
