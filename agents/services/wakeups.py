"""Wakeups: a cause becomes a row, an equal one joins it, one that must not be is kept as refused, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError
from django.db.models import F, Max, Q
from django.utils import timezone

from agents import listeners
from agents.models import Agent, AgentStatus, Run, Wakeup, WakeupSource, WakeupState
from issues.activity import record
from issues.actors import SYSTEM, Actor, Person, Worker
from issues.effects import Wake, after_commit, savepoint, service, unit
from issues.models import Activity, ActorKind, Company, InboxKind, Issue, Member, Status
from issues.policies import Right, require
from issues.refusals import Conflict, NotFound
from issues.services.inbox import settle_issue, tell_board
from issues.sources import SENT_BACK
from issues.texts import check_text

VISITS_IN_CHAIN = 2
"""How many runs of one agent on one issue other agents may cause within a chain by mentioning it or handing it the
issue; the next is refused. Work that a reviewer sends back does not count."""

RUNS_IN_CHAIN = 200
"""How many runs one chain may have."""

JOIN_TRIES = 3
"""How often a wakeup is tried to be written beside equal ones that others write and claim at the same moment."""

MOST_BELLS = 8
"""Workers that are told of what one unit, or a sweep, has to start. Each of them starts all that it has slots for, and
tells one more when it has none left."""

_KEEPS_DEPTH = (WakeupSource.BLOCKER_RESOLVED, WakeupSource.CHILD_CLOSED, WakeupSource.CONTINUE)
_SENT_BY_AGENTS = (WakeupSource.MENTION, WakeupSource.ASSIGNED)
_OPEN = [status for status in Status if not status.is_closed]
_PERSON_MAY_ON_CLOSED = (WakeupSource.MENTION, WakeupSource.MANUAL)


@dataclass(frozen=True, slots=True)
class _Chain:
    """Where a wakeup stands in the chain of runs since a person, a schedule or a routine began it."""

    depth: int
    number: int | None
    begun_by: Member | None


@dataclass(frozen=True, slots=True)
class _Guard:
    """A limit that holds a runaway: told to the board, not only written down."""

    reason: str


def wake_agent(cause: Wake) -> Wakeup:
    """Write the cause down as a wakeup, inside the caller's transaction; it never raises for a refused one."""
    agent = Agent.objects.select_related("company").get(pk=cause.agent_id)
    chain = _chain_of(cause.actor, cause.source, cause.issue)
    refused = _why_never(agent, cause) or _why_runaway(agent, cause, chain)
    if refused is not None:
        return _write_refused(agent, cause, chain, refused)
    key = f"{agent.pk}:{cause.issue.pk}:{cause.source}:{cause.subject}"
    return _join_or_write(agent, cause, chain, key)


def on_wake(cause: Wake) -> int | None:
    """The listener that the tracker calls: the id of the wakeup if it is a new one that waits."""
    wakeup = wake_agent(cause)
    is_new = wakeup.state == WakeupState.PENDING and not wakeup.joined
    return wakeup.pk if is_new else None


def run_heartbeat(*, actor: Actor, agent: Agent, issue: Issue, note: str = "") -> Wakeup:
    """Let the agent look at the issue because a person says so, also on a closed one. Conflict, with the reason, if it
    cannot run; that it was asked stays written down."""
    wakeup = ask_for_heartbeat(actor=actor, agent=agent, issue=issue, note=note)
    if wakeup.state == WakeupState.REFUSED:
        raise Conflict(wakeup.ended_because)
    return wakeup


@service
def ask_for_heartbeat(*, actor: Actor, agent: Agent, issue: Issue, note: str = "") -> Wakeup:
    """The wakeup of a person who presses Run heartbeat, pending or refused."""
    require(actor, Right.RUN, issue)
    if agent.company_id != issue.company_id:
        raise NotFound("There is no such agent.")
    wakeup = wake_agent(
        Wake(
            agent_id=agent.pk,
            issue=issue,
            source=WakeupSource.MANUAL,
            actor=actor,
            note=check_text(note, "note", limit=10_000),
            reason=f"{actor} pressed Run heartbeat.",
        )
    )
    if wakeup.state != WakeupState.REFUSED:
        settle_issue(issue, InboxKind.BLOCKED, InboxKind.STOPPED)
        record(actor, "wakeup.asked", issue, wakeup=wakeup.pk, agent=agent.pk)
    return wakeup


def run_agent(*, actor: Actor, agent: Agent, note: str = "") -> Wakeup:
    """Let the agent look at the issue it would take by itself. Conflict, with the reason, if there is none."""
    require(actor, Right.MANAGE_AGENTS, agent.company)
    issue = next_work(agent)
    if issue is None:
        raise Conflict(f"@{agent.handle} has no issue in todo or in progress that it could go on with.")
    return run_heartbeat(actor=actor, agent=agent, issue=issue, note=note)


@service
def wake_on_schedule(*, agent: Agent) -> Wakeup | None:
    """The agent's interval came round: wake it for its next work. With none no model is asked and there is no run; only
    the round is counted."""
    issue = next_work(agent)
    if issue is None:
        Agent.objects.filter(pk=agent.pk).update(idle_rounds=F("idle_rounds") + 1, idle_round_at=timezone.now())
        return None
    return wake_agent(
        Wake(
            agent_id=agent.pk,
            issue=issue,
            source=WakeupSource.SCHEDULE,
            actor=SYSTEM,
            reason="Your interval came round.",
        )
    )


def next_work(agent: Agent) -> Issue | None:
    """The issue the agent would go on with: its own, in todo or in progress, waiting for nothing; highest priority
    first, then least recently run."""
    waiting = Q(approvals__status="pending") | Q(blocker_links__blocker__status__in=_OPEN)
    waiting |= Q(children__status__in=_OPEN)
    return (
        Issue.objects.select_related("company")
        .filter(assignee_agent=agent, status__in=("todo", "in_progress"))
        .exclude(pk__in=Issue.objects.filter(waiting, assignee_agent=agent).values("pk"))
        .annotate(last_run=Max("runs__created_at", filter=Q(runs__agent=agent)))
        .order_by("priority", F("last_run").asc(nulls_first=True), "rank", "number")
        .first()
    )


def leading_wakeup(wakeups: Sequence[Wakeup]) -> Wakeup:
    """Of the wakeups that a run delivers, the one whose depth and chain it continues: a person's if there is one, else
    the deepest, of equals the oldest."""
    return min(wakeups, key=lambda wakeup: (not wakeup.is_from_person, -wakeup.depth, wakeup.pk))


def last_asked(agent: Agent, issue: Issue) -> Wakeup | None:
    """The newest wakeup of the agent that waits on the issue or on its parent. An agent that acts outside of any run
    goes on with its chain: else two of them could wake one another for ever."""
    waiting = Wakeup.objects.filter(agent=agent, issue__in=[issue.pk, issue.parent_id], state=WakeupState.PENDING)
    return waiting.select_related("chain_member").order_by("-pk").first()


def look_again(company: Company | None) -> None:
    """Look again, at once, at what waits in the company, or everywhere; what still has to wait is held back once more.
    Retries keep their time. In a unit of its own, or the caller's."""
    waiting = Wakeup.objects.filter(state=WakeupState.PENDING, tries=0).exclude(waiting_because="")
    if company is not None:
        waiting = waiting.filter(company=company)
    with unit():
        held = list(waiting.select_for_update().order_by("pk").values_list("pk", flat=True))  # as claims hold them
        if Wakeup.objects.filter(pk__in=held).update(due_at=timezone.now()):
            ring_after_commit()


def ring_after_commit() -> None:
    """Tell the engine, once this unit is safe, that there is something to look at."""
    for ring in listeners.doorbells:
        after_commit(ring, at_most=MOST_BELLS)


def _chain_of(actor: Actor, source: WakeupSource, issue: Issue) -> _Chain:
    if isinstance(actor, Person):
        return _Chain(0, None, actor.member_in(issue.company))
    if not isinstance(actor, Worker) or actor.approved:
        return _Chain(0, None, actor.begun_by if isinstance(actor, Worker) else None)
    came_from = actor.run or last_asked(actor.agent, issue)
    if came_from is None:
        return _Chain(0, None, None)
    step = 0 if source in _KEEPS_DEPTH else 1
    return _Chain(came_from.depth + step, came_from.chain, came_from.chain_member)


def _why_never(agent: Agent, cause: Wake) -> str | None:
    """Why this agent is not woken at all, whatever the limits."""
    if agent.status != AgentStatus.ACTIVE:
        return f"@{agent.handle} is {AgentStatus(agent.status).label.lower()}."
    by_person = isinstance(cause.actor, Person) and cause.source in _PERSON_MAY_ON_CLOSED
    if cause.issue.is_closed and not by_person:
        return "The issue is closed."
    if not isinstance(cause.actor, Person) and _has_stalled(agent, cause.issue):
        return "The issue stalled here: a person lets it go on."
    return None


def _has_stalled(agent: Agent, issue: Issue) -> bool:
    """Whether the stall guard stopped this agent here and no person has acted on the issue since."""
    if issue.status != Status.BLOCKED or issue.assignee_agent_id != agent.pk:
        return False
    newest = (
        Activity.objects.filter(Q(kind="issue.status") | Q(actor_kind=ActorKind.USER), issue=issue)
        .order_by("-pk")
        .values_list("data__stalled", flat=True)
        .first()
    )
    return newest == agent.pk


def _why_runaway(agent: Agent, cause: Wake, chain: _Chain) -> _Guard | None:
    limit = agent.company.hop_limit
    if chain.depth > limit:
        return _Guard(f"Agents have woken one another {chain.depth} times in a row; the limit is {limit}.")
    if chain.number is None or not isinstance(cause.actor, Worker):
        return None
    if Run.objects.filter(chain=chain.number).count() >= RUNS_IN_CHAIN:
        return _Guard(f"This chain has had {RUNS_IN_CHAIN} runs.")
    if cause.source in _SENT_BY_AGENTS and cause.subject != SENT_BACK:
        visits = _visits(agent, cause.issue, chain.number)
        if visits >= VISITS_IN_CHAIN:
            return _Guard(f"Agents have sent @{agent.handle} to this issue {visits} times in one chain.")
    return None


def _visits(agent: Agent, issue: Issue, chain: int) -> int:
    """How many runs of the agent on the issue other agents have caused in the chain. What is still pending is part of
    the next one."""
    sent = Wakeup.objects.filter(
        chain=chain, agent=agent, issue=issue, source__in=_SENT_BY_AGENTS, by_agent__isnull=False
    )
    delivered = sent.filter(state__in=(WakeupState.CLAIMED, WakeupState.CONSUMED))
    return delivered.exclude(key__endswith=f":{SENT_BACK}").values("run").distinct().count()


def _join_or_write(agent: Agent, cause: Wake, chain: _Chain, key: str) -> Wakeup:
    for attempt in range(1, JOIN_TRIES + 1):
        joined = _join(key, cause, chain)
        if joined is not None:
            return joined
        try:
            with savepoint():
                written = _write(agent, cause, chain, key=key, state=WakeupState.PENDING)
            ring_after_commit()
            return written
        except IntegrityError:  # an equal one was committed in between: join it, unless it was claimed at once
            if attempt == JOIN_TRIES:
                raise
    raise AssertionError("unreachable")


def _join(key: str, cause: Wake, chain: _Chain) -> Wakeup | None:
    """Join the pending wakeup of that key, if there is one. A person's request lifts an agent's to a person's."""
    wakeup = Wakeup.objects.select_for_update().filter(key=key, state=WakeupState.PENDING).first()
    if wakeup is None:
        return None
    wakeup.joined += 1
    if isinstance(cause.actor, Person):
        wakeup.member, wakeup.depth, wakeup.chain_member = chain.begun_by, 0, chain.begun_by
        wakeup.chain = wakeup.pk
        wakeup.due_at = min(wakeup.due_at, timezone.now())
        wakeup.note = "\n\n".join(filter(None, (wakeup.note, cause.note)))
        ring_after_commit()  # the one that is joined may have been waiting
    wakeup.save()
    return wakeup


def _write(agent: Agent, cause: Wake, chain: _Chain, *, key: str, state: WakeupState, because: str = "") -> Wakeup:
    now = timezone.now()
    actor = cause.actor
    wakeup = Wakeup.objects.create(
        company=agent.company,
        agent=agent,
        issue=cause.issue,
        source=cause.source,
        key=key,
        reason=cause.reason[:500],
        note=cause.note,
        state=state,
        due_at=now,
        ended_because=because,
        ended_at=now if because else None,
        member=chain.begun_by if isinstance(actor, Person) else None,
        by_agent=actor.agent if isinstance(actor, Worker) else None,
        cause_run=actor.run if isinstance(actor, Worker) else None,
        comment=cause.comment,
        subject_issue=cause.subject_issue,
        approval=cause.approval,
        depth=chain.depth,
        chain=chain.number,
        chain_member=chain.begun_by,
    )
    if wakeup.chain is None:
        wakeup.chain = wakeup.pk
        wakeup.save(update_fields=["chain"])
    return wakeup


def _write_refused(agent: Agent, cause: Wake, chain: _Chain, refused: str | _Guard) -> Wakeup:
    reason = refused.reason if isinstance(refused, _Guard) else refused
    wakeup = _write(
        agent,
        cause,
        chain,
        key=f"refused:{agent.pk}:{cause.issue.pk}",
        state=WakeupState.REFUSED,
        because=reason,
    )
    kind = "guard.stopped" if isinstance(refused, _Guard) else "wakeup.refused"
    record(SYSTEM, kind, cause.issue, wakeup=wakeup.pk, agent=agent.pk, reason=reason)
    if isinstance(refused, _Guard):
        tell_board(
            InboxKind.STOPPED,
            f"Say how {cause.issue.identifier} goes on: @{agent.handle} was not woken there. {reason}",
            company=agent.company,
            issue=cause.issue,
        )
    return wakeup
