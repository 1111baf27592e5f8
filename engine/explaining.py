"""Why nothing runs on an issue right now, in one sentence: for the board, the API and the command line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from agents.models import Adapter, Agent, Run, Wakeup, WakeupState
from agents.services.agents import HOW_TO_ALLOW, NO_COMMANDS
from agents.services.runs import count_runs
from engine.gate import Closed, open_route
from issues.models import ApprovalStatus, CompanyStatus, Issue, Status
from issues.services.inbox import answering_for
from issues.services.transitions import outstanding_reviewers

A_MOMENT = timedelta(minutes=1)
"""Workers with room take what is due sooner."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """`run` is the live run, if there is one; else `reason` says why there is none."""

    reason: str
    run: Run | None = None


def explain(issue: Issue) -> Explanation:
    """The first reason that holds, from the most immediate to the most general."""
    run = issue.runs.live().select_related("agent").first()
    if run is not None:
        return Explanation(f"@{run.agent.handle} is at work on it.", run)
    pending = (
        Wakeup.objects.filter(issue=issue, state=WakeupState.PENDING)
        .select_related("agent__company")
        .order_by("due_at")
        .first()
    )
    if pending is not None:
        return Explanation(_why_pending(pending))
    return Explanation(_why_unasked(issue))


def _why_pending(wakeup: Wakeup) -> str:
    handle = wakeup.agent.handle
    unable = _why_unable(wakeup.agent)
    if unable:
        return f"@{handle} is to look at it, but {unable}"
    if wakeup.due_at > timezone.now():
        because = wakeup.waiting_because or "It waits."
        return f"@{handle} looks at it at {timezone.localtime(wakeup.due_at):%H:%M %Z}. {because}"
    company = wakeup.agent.company
    at_work = list(company.runs.live().values_list("agent", flat=True))
    if at_work.count(wakeup.agent_id) >= wakeup.agent.max_concurrent_runs:
        return f"@{handle} is at work elsewhere and comes next."
    if len(at_work) >= company.max_concurrent_runs:
        return f"@{handle} comes next: the company has {count_runs(len(at_work))} under way, its limit."
    if wakeup.due_at < timezone.now() - A_MOMENT:
        return f"@{handle} is due since {timezone.localtime(wakeup.due_at):%H:%M %Z} and starts when a worker has room."
    return f"@{handle} starts in a moment."


def _why_unasked(issue: Issue) -> str:
    """Nobody was asked to look at it. What would have to happen first?"""
    if issue.is_closed:
        return f"The issue is {issue.get_status_display().lower()}."
    if issue.approvals.filter(status=ApprovalStatus.PENDING).exists():
        return "It waits for a decision of the board."
    blockers = [link.blocker.identifier for link in issue.blocker_links.open().select_related("blocker__company")[:3]]
    if blockers:
        return f"It waits for {', '.join(blockers)}."
    if issue.children.open().exists():
        return "It waits for its child issues."
    if issue.status == Status.IN_REVIEW:
        judges = [one for row in outstanding_reviewers(issue) if (one := row.agent or row.member) is not None]
        handles = [f"@{one.handle}" for one in judges or [answering_for(issue)]]
        return f"It waits for the review of {' and '.join(handles)}."
    if issue.status == Status.BLOCKED:
        return "It is blocked, and no open issue is named as its blocker: say how it goes on."
    agent = issue.assignee_agent
    if agent is None:
        person = issue.assignee_member
        return f"It is assigned to a person, @{person.handle}." if person else "It is assigned to nobody."
    unable = _why_unable(agent)
    if unable:
        return f"It is @{agent.handle}'s, but {unable}"
    if not issue.is_workable:
        return "It is in the backlog: agents start on what is in todo or in progress."
    return f"@{agent.handle} has looked at it and nothing has happened since. Press Run, or write a comment."


def _why_unable(agent: Agent) -> str:
    """Why this agent starts nothing at all; empty if it could."""
    if agent.company.status != CompanyStatus.ACTIVE:
        return "the company is paused."
    if not agent.is_active:
        return f"it is {agent.get_status_display().lower()}."
    if agent.adapter == Adapter.EXTERNAL:
        return "it works outside of Trimus and claims its issues itself."
    if agent.is_program and not settings.CLI_AGENTS:
        return f"it is a program. {NO_COMMANDS} {HOW_TO_ALLOW}"
    try:
        open_route(agent, timezone.now())
    except Closed as closed:
        return f"no model answers it. {closed.wait.reason}"
    return ""
