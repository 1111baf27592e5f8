"""The one gate that every start passes: wakeups, retries, recovery, routines and outside agents alike."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Q

from agents.models import Adapter, Agent, Breaker, Run, Wakeup
from agents.services.agents import HOW_TO_ALLOW, NO_COMMANDS
from agents.services.breakers import closed_until, take_probe, troubled
from agents.services.runs import count_runs, rated_until, why_installation_full, why_no_start, why_rated
from agents.services.spending import OverBudget
from engine.routing import NoProvider, Route, own_providers, routes_of
from engine.troubles import why_closed
from issues.models import Company, Issue
from issues.prepared import Prepared

ASK_AGAIN = datetime.timedelta(seconds=30)
"""When a start that waits for a setting to change is looked at again."""

SPENT_AGAIN = datetime.timedelta(minutes=10)
"""When a start for which the budget is spent is looked at again; raising the budget does so at once."""


CROWDED_AGAIN = datetime.timedelta(seconds=5)
"""When a start for which a provider or the installation has no place is looked at again: it may be another company's
run that ends, which rings for nobody here."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a run does not start now. `until` is set where nothing that happens in Trimus would end the wait."""

    reason: str
    until: datetime.datetime | None = None


def until_budget(refusal: OverBudget, now: datetime.datetime) -> Wait:
    """The wait of what a budget has no room for."""
    return Wait(refusal.reason, until=now + (SPENT_AGAIN if refusal.is_spent else ASK_AGAIN))


@dataclass(frozen=True, slots=True)
class Opening:
    """Whom a run may ask. `is_probe`: it was left alone until now, and one call may try whether it answers again."""

    route: Route
    is_probe: bool = False


class Closed(Exception):
    """Everybody who could answer is left alone for now, or has no place for another run."""

    def __init__(self, wait: Wait) -> None:
        super().__init__(wait.reason)
        self.wait = wait


def why_wait(
    company: Company, agent: Agent, issue: Issue, wakeups: Sequence[Wakeup], now: datetime.datetime
) -> Wait | None:
    """None if the agent may start on the issue now, if somebody can answer it (`open_route`). Asked under the locks of
    company and agent."""
    live = _live_in.rows(company.pk)
    for issue_id, agent_id in live:
        if issue_id == issue.pk:
            return Wait(f"@{Agent.objects.get(pk=agent_id).handle} holds the issue.")
    reason = why_no_start(company, agent, [agent_id for _, agent_id in live])
    if reason is not None:
        return Wait(reason)
    if agent.is_program and not settings.CLI_AGENTS:
        return Wait(f"{NO_COMMANDS} {HOW_TO_ALLOW}", until=now + ASK_AGAIN)
    if agent.adapter == Adapter.EXTERNAL:
        return Wait("The agent works outside of Trimus and claims its issues itself.", until=now + ASK_AGAIN)
    return _why_rated(company, agent, issue, wakeups, now)


_live_in = Prepared(lambda company: Run.objects.live().filter(company=company).values_list("issue", "agent"))


def open_route(agent: Agent, now: datetime.datetime) -> Opening:
    """Whom the agent may ask now: the first of its routes that is neither left alone nor full. Raises Closed."""
    try:
        return first_open(agent.company, routes_of(agent), now)
    except NoProvider as error:
        raise Closed(Wait(str(error), until=now + ASK_AGAIN)) from error


def first_open(company: Company, routes: Sequence[Route], now: datetime.datetime) -> Opening:
    """The first of the routes that is neither left alone nor full. Raises Closed, also for none at all."""
    breakers = troubled([route.key for route in routes])
    waits = []
    for route in routes:
        breaker = breakers.get(route.key)
        until = closed_until(breaker, now) if breaker is not None else None
        if breaker is not None and until is not None:
            waits.append(_closed(breaker, route, until, now))
        elif (crowd := _why_crowded(company, route)) is not None:
            waits.append(Wait(crowd, until=now + CROWDED_AGAIN))
        else:
            return Opening(route, is_probe=breaker is not None and breaker.open_until is not None)
    reasons = " ".join(dict.fromkeys(wait.reason for wait in waits))
    raise Closed(Wait(reasons, until=min((wait.until for wait in waits if wait.until is not None), default=None)))


def enter(opening: Opening, run: Run, now: datetime.datetime) -> None:
    """Begin to ask for the run. Raises Closed when another call became the probe meanwhile."""
    if opening.is_probe and not take_probe(opening.route.key, run=run, until=run.deadline_at):
        raise Closed(Wait(f"One run tries whether {opening.route.name} answers again.", until=now + CROWDED_AGAIN))


def _closed(breaker: Breaker, route: Route, until: datetime.datetime, now: datetime.datetime) -> Wait:
    """A probe may be over long before it could be, so that what waits for it looks again sooner."""
    is_tried = breaker.open_until is not None and breaker.open_until <= now
    return Wait(why_closed(breaker, route, now), until=min(until, now + ASK_AGAIN) if is_tried else until)


def _why_crowded(company: Company, route: Route) -> str | None:
    """Why this route has no place for another run. Limits over several companies are counted without a lock over all of
    them: as many starts as happen at once may go beyond."""
    own = own_providers(company).get(route.name) if route.own_of is not None else None
    here_at_most = own.max_concurrent_runs if own is not None else settings.PROVIDER_MAX_RUNS if route.key else None
    if not here_at_most and not settings.MAX_RUNS:
        return None
    counts = Run.objects.live().aggregate(all=Count("pk"), here=Count("pk", filter=Q(endpoint=route.key)))
    if (full := why_installation_full(counts["all"])) is not None:
        return full
    if here_at_most and counts["here"] >= here_at_most:
        return f"{route.name} answers {count_runs(counts['here'])} already, its limit."
    return None


def _why_rated(
    company: Company, agent: Agent, issue: Issue, wakeups: Sequence[Wakeup], now: datetime.datetime
) -> Wait | None:
    """More runs here in an hour than the company allows wait; what a person asked for does not."""
    if any(wakeup.is_from_person for wakeup in wakeups):
        return None
    until = rated_until(agent, issue, now)
    return None if until is None else Wait(why_rated(company), until)
