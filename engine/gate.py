"""The one gate that every start passes: wakeups, retries, recovery, routines and outside agents alike."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from agents.models import Adapter, Agent, Run, Wakeup
from agents.services.runs import why_no_start
from engine.routing import NoProvider, choose_endpoint
from issues.models import Company, Issue

RATE_WINDOW = datetime.timedelta(hours=1)
ASK_AGAIN = datetime.timedelta(seconds=30)
"""When a start that waits for a setting to change is looked at again."""

SPENT_AGAIN = datetime.timedelta(minutes=10)
"""When a start for which the budget is spent is looked at again; raising the budget does so at once."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a run does not start now. `until` is set where nothing that happens in Trimus would end the wait."""

    reason: str
    until: datetime.datetime | None = None


def why_wait(
    company: Company, agent: Agent, issue: Issue, wakeups: Sequence[Wakeup], now: datetime.datetime
) -> Wait | None:
    """None if the agent may start on the issue now. Asked under the locks of company and agent."""
    live = list(company.runs.live().values_list("issue", "agent", "agent__handle"))
    for issue_id, _, holder in live:
        if issue_id == issue.pk:
            return Wait(f"@{holder} holds the issue.")
    reason = why_no_start(company, agent, [agent_id for _, agent_id, _ in live])
    if reason is not None:
        return Wait(reason)
    return _why_no_provider(agent, now) or _why_rated(company, agent, issue, wakeups, now)


def _why_no_provider(agent: Agent, now: datetime.datetime) -> Wait | None:
    if agent.adapter != Adapter.LLM:
        return Wait("The agent works outside of Trimus and claims its issues itself.", until=now + ASK_AGAIN)
    try:
        choose_endpoint(agent)
    except NoProvider as error:
        return Wait(str(error), until=now + ASK_AGAIN)
    return None


def _why_rated(
    company: Company, agent: Agent, issue: Issue, wakeups: Sequence[Wakeup], now: datetime.datetime
) -> Wait | None:
    """More runs here in an hour than the company allows wait; what a person asked for does not."""
    if any(wakeup.is_from_person for wakeup in wakeups):
        return None
    limit = company.runs_per_hour
    # Up to now: a clock that was set back would else make them wait for as much longer.
    window = (now - RATE_WINDOW, now)
    recent = Run.objects.filter(agent=agent, issue=issue, created_at__range=window).order_by("-created_at")
    starts = list(recent.values_list("created_at", flat=True)[:limit])
    if len(starts) < limit:
        return None
    return Wait(f"{limit} runs of this agent here within an hour, the limit.", until=starts[-1] + RATE_WINDOW)
