"""The skill writer's workbench: a stored reply through the whole line, and a prompt without a model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from agents.models import Agent, Run, Wakeup, WakeupState
from agents.services.runs import held_by
from agents.services.wakeups import wake_agent
from engine import fence
from engine.apply import apply_reply
from engine.claim import start
from engine.completion import storable
from engine.context import build_context, gather
from engine.metering import meter_of_agent
from engine.outcomes import Outcome
from engine.prompt import HeartbeatPrompt, build_heartbeat_prompt
from engine.record import keep_prompt
from engine.routing import secrets_of
from issues import blobs
from issues.actors import SYSTEM
from issues.effects import Wake, unit
from issues.models import Issue
from issues.refusals import Conflict, Invalid
from issues.services.locks import lock_company
from issues.sources import WakeupSource
from issues.texts import fold


@dataclass(frozen=True, slots=True)
class Trial:
    """What a reply did, or with `is_dry` would do."""

    run: Run
    outcomes: Sequence[Outcome]
    is_dry: bool


class _TakeBack(Exception):
    """Ends a dry run's transaction."""


def find_issue(identifier: str) -> Issue:
    """The issue of that identifier. Invalid if there is none."""
    key, _, number = identifier.strip().upper().rpartition("-")
    found = None
    if number.isdecimal() and len(number) < 10:
        found = Issue.objects.select_related("company").filter(company__key=key, number=int(number)).first()
    if found is None:
        raise Invalid(f"There is no issue {identifier}.")
    return found


def find_pair(identifier: str, handle: str) -> tuple[Agent, Issue]:
    """The issue of that identifier and the agent of its company with that handle. Invalid if there is none."""
    issue = find_issue(identifier)
    wanted = fold(handle.strip().removeprefix("@"))
    agents = issue.company.agents.present().select_related("company", "manager").order_by("handle")
    for agent in agents:
        if fold(agent.handle) == wanted:
            return agent, issue
    names = ", ".join(f"@{agent.handle}" for agent in agents)
    raise Invalid(f"There is no agent @{wanted} in {issue.company}.", f"There are: {names or 'none'}.")


def try_reply(agent: Agent, issue: Issue, reply: str, *, is_dry: bool) -> Trial:
    """Apply a reply as if the agent had just given it on the issue. A dry one is taken back, whole, at the end.

    Conflict if somebody holds the issue.
    """
    trial: Trial | None = None
    try:
        with blobs.rehearsal() if is_dry else nullcontext(), transaction.atomic():
            trial = _try(agent, issue, reply, is_dry)
            if is_dry:
                raise _TakeBack
    except _TakeBack:
        pass
    assert trial is not None  # noqa: S101 - anything else was raised
    return trial


def draft_prompt(agent: Agent, issue: Issue, wakeups: Sequence[Wakeup] | None = None) -> HeartbeatPrompt:
    """The prompt that a run would send now, for these wakeups, by default those that are pending."""
    if wakeups is None:
        wakeups = list(Wakeup.objects.filter(agent=agent, issue=issue, state=WakeupState.PENDING).order_by("pk"))
    return build_heartbeat_prompt(
        build_context(agent, issue, wakeups), meter_of_agent(agent), known_secrets=secrets_of(agent.company)
    )


def _try(agent: Agent, issue: Issue, reply: str, is_dry: bool) -> Trial:
    with unit():
        company = lock_company(issue.company)
        held = issue.runs.live().select_related("agent").first()
        if held is not None:
            raise held_by(held)
        wakeup = wake_agent(
            Wake(
                agent_id=agent.pk,
                issue=issue,
                source=WakeupSource.MANUAL,
                actor=SYSTEM,
                subject="workbench",
                reason="A stored reply is tried.",
            )
        )
        if wakeup.state == WakeupState.REFUSED:
            raise Conflict(wakeup.ended_because)
        run = start(company, agent, issue, [wakeup], timezone.now())
        context = gather(run)
        prompt = build_heartbeat_prompt(context, meter_of_agent(agent), known_secrets=secrets_of(agent.company))
        keep_prompt(run, prompt, context)
        fence.write(run, reply=storable(reply), replied_at=timezone.now(), provider="file", stop_reason="end")
        outcomes = apply_reply(run)
        run.refresh_from_db()
        return Trial(run, outcomes, is_dry)
