"""The stall guard: an assignee that runs again and again and only talks is stopped, and the board is told."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Prefetch, QuerySet

from agents.models import ActionOutcome, Run, RunAction, Wakeup
from engine.outcomes import Outcome
from engine.verbs.registry import BY_NAME
from issues.actors import SYSTEM
from issues.models import InboxKind, Issue, Status
from issues.services.inbox import tell_board
from issues.services.locks import lock_issue
from issues.services.transitions import enter_status

RUNS_BEFORE_STALL = 3
"""Runs in a row that a person did not wake and that changed nothing but added comments."""

_LOOKED_AT = 50
"""Runs looked back at: those that only pass count neither way, and there may be many."""


def stop_if_stalled(run: Run, issue: Issue, outcomes: Sequence[Outcome]) -> bool:
    """Set the issue to blocked if its assignee's newest runs changed nothing, this one included, which has these
    outcomes; True if so. From then on only a person wakes that agent there. Inside the transaction that applied the
    reply."""
    changed = any(one.outcome == ActionOutcome.APPLIED and _is_change(one.action.verb) for one in outcomes)
    if changed or issue.assignee_agent_id != run.agent_id or not _is_stalled(run, issue):
        return False
    issue = lock_issue(issue)
    enter_status(issue, Status.BLOCKED, SYSTEM, stalled=run.agent_id)
    idle = f"{RUNS_BEFORE_STALL} runs of @{run.agent.handle} in a row changed nothing."
    tell_board(InboxKind.STOPPED, f"Say how {issue.identifier} goes on: {idle}", company=issue.company, issue=issue)
    return True


def _is_stalled(run: Run, issue: Issue) -> bool:
    idle = 0
    for recent in _recent(run, issue):
        actions = list(recent.actions.all())
        if any(wakeup.is_from_person for wakeup in recent.wakeups.all()):
            return False
        if any(action.outcome == ActionOutcome.APPLIED and _is_change(action.verb) for action in actions):
            return False
        if actions and all(action.verb == "pass" for action in actions):
            continue
        idle += 1
        if idle == RUNS_BEFORE_STALL:
            return True
    return False


def _recent(run: Run, issue: Issue) -> QuerySet[Run]:
    """The agent's newest applied runs there, without the texts that they keep."""
    runs = Run.objects.filter(agent=run.agent, issue=issue, applied_at__isnull=False).only("pk")
    actions = Prefetch("actions", RunAction.objects.only("run", "verb", "outcome"))
    wakeups = Prefetch("wakeups", Wakeup.objects.only("run", "member"))
    return runs.prefetch_related(actions, wakeups).order_by("-pk")[:_LOOKED_AT]


def _is_change(verb: str) -> bool:
    return verb in BY_NAME and BY_NAME[verb].is_change
