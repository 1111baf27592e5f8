"""Preparing a run's prompt: gathered, rendered for the model that will answer, and kept as it will be sent."""

from __future__ import annotations

from dataclasses import replace

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import Run
from agents.own_models import entry_for
from agents.services.spending import Cost, OverBudget, reserve_rest
from engine.ceiling import prompt_ceiling
from engine.completion import Unanswered
from engine.context import LEAN_WINDOW, gather
from engine.metering import meter_of
from engine.prompt import HeartbeatPrompt, build_heartbeat_prompt
from engine.record import keep_prompt, keep_unanswered
from engine.routing import Route, choose_endpoint, secrets_of
from engine.text.context import HeartbeatContext, Tier
from engine.turns import database_turn
from issues.effects import service


def prepare(run: Run, route: Route | None = None) -> HeartbeatPrompt:
    """The run's prompt for the model that is asked, by default the first of its agent: each has its own window, and may
    count otherwise. PromptTooLarge when what must be shown exceeds the model's room, Unanswered when the budget has
    none for the call."""
    route = route or choose_endpoint(run.agent)
    with database_turn(begins=True):
        return _keep(run, gather(run, route), route)


def prepare_leaner(run: Run, failure: Unanswered) -> HeartbeatPrompt:
    """The prompt once more, one tier leaner, because the provider found it too long.

    Raises the failure itself when something else was wrong, or when the prompt was as lean as can be.
    """
    error = failure.error
    if not isinstance(error, AdapterError) or error.kind is not ErrorKind.CONTEXT_TOO_LONG:
        raise failure
    with database_turn(begins=True):
        leaner = make_leaner(gather(run, failure.route))
        if leaner is None:
            raise failure
        keep_unanswered(run, failure)
        return _keep(run, leaner, failure.route)


def make_leaner(context: HeartbeatContext) -> HeartbeatContext | None:
    """The context for the lean tier and the largest window that goes with it; None if it is no wider already."""
    if context.tier is Tier.LEAN and context.limits.window <= LEAN_WINDOW:
        return None
    window = min(context.limits.window, LEAN_WINDOW)
    return replace(context, tier=Tier.LEAN, limits=replace(context.limits, window=window))


def _keep(run: Run, context: HeartbeatContext, route: Route) -> HeartbeatPrompt:
    """The context's prompt, written down, and so much set aside beside what is held that the call can be paid."""
    entry, meter = entry_for(route.endpoint, route.model), meter_of(route)
    prompt = build_heartbeat_prompt(context, meter, known_secrets=secrets_of(run.company))
    worst = prompt_ceiling(run.agent, prompt, entry, meter)
    try:
        _write_down(run, prompt, context, worst)
    except OverBudget as refusal:
        raise Unanswered(refusal, (), route, entry) from refusal
    return prompt


@service
def _write_down(run: Run, prompt: HeartbeatPrompt, context: HeartbeatContext, worst: Cost) -> None:
    keep_prompt(run, prompt, context)
    reserve_rest(run, worst)
