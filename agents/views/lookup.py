"""Finding the agents and runs that addresses and forms name."""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import QuerySet

from agents.models import Agent, Run
from issues.pages import Visit
from issues.refusals import NotFound


def find_agent(visit: Visit, handle: str) -> Agent:
    """The agent of that handle; NotFound unless it is the company's."""
    agents = Agent.objects.filter(company=visit.company).select_related("company", "manager")
    agent = agents.filter(handle=handle).first()
    if agent is None:
        raise NotFound(f"There is no agent @{handle}.")
    return agent


def find_run(visit: Visit, pk: int, *, counted: Callable[[QuerySet[Run]], QuerySet[Run]] | None = None) -> Run:
    """The run with all that its page names; NotFound unless it is the company's. `counted` adds figures to it, in the
    same query."""
    runs = Run.objects.filter(company=visit.company).select_related(
        "company", "agent", "issue__company", "ended_by__user"
    )
    run = (counted(runs) if counted is not None else runs).filter(pk=pk).first()
    if run is None:
        raise NotFound(f"There is no run {pk}.")
    run.agent.company = run.company
    return run


def previous_run(run: Run) -> Run | None:
    """The agent's run before on the same issue, with the hashes of what it was told and none of its texts."""
    if run.issue_id is None:
        return None
    before = Run.objects.filter(agent=run.agent_id, issue=run.issue_id, pk__lt=run.pk).exclude(prompt_built_at=None)
    return before.only("contract_hash", "instructions_hash", "skills_hash").order_by("-pk").first()
