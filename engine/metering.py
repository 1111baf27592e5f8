"""The meter of a route's model, and what its provider's counts teach about it."""

from __future__ import annotations

from django.db.models import F
from django.db.models.functions import Least

from agents.adapters.base import Completion
from agents.models import Agent, Run, TokenFactor
from engine.meters import meter_for
from engine.routing import NoProvider, Route, choose_endpoint
from engine.text.tokens import MESSAGE_TOKENS, TokenMeter

ENOUGH_SAMPLES = 3
"""Reports before the careful guess gives way: one prompt may be unlike all others."""

MEMORY = 20
"""Reports that the mean goes back to, so that it follows a model that changes under its name. A model that is known so
well learns from one run in as many: all runs of a model write this one row."""

PLAUSIBLE = (0.5, 4.0)
"""Outside of this a gateway reports something else than what was sent."""


def meter_of(route: Route) -> TokenMeter:
    """Exact where the encoding is published, else with what was learnt."""
    meter = meter_for(route.model)
    if meter.is_exact or route.endpoint.provider == "scripted" or route.is_program:
        return meter
    learnt = TokenFactor.objects.filter(
        provider=route.counts_as, model=route.model, samples__gte=ENOUGH_SAMPLES
    ).first()
    return meter_for(route.model, learnt.factor if learnt is not None else None)


def meter_of_agent(agent: Agent) -> TokenMeter:
    """Of the model that would answer the agent; of an unknown one where nothing would."""
    try:
        return meter_of(choose_endpoint(agent))
    except NoProvider:
        return meter_for("")


def learn_tokens(run: Run, route: Route, first: Completion) -> None:
    """Learn from what the provider counted for the run's prompt, unless it is known or nothing was counted."""
    meter = meter_for(route.model)
    if meter.is_exact or first.usage.estimated or first.attempts > 1 or route.endpoint.provider == "scripted":
        return
    if route.is_program:  # it sends more than our prompt
        return
    sent = meter.count(run.system_message) + meter.count(run.user_message)
    factor = (first.usage.input_tokens - 2 * MESSAGE_TOKENS) / sent
    if PLAUSIBLE[0] <= factor <= PLAUSIBLE[1]:
        _remember(run, route, factor)


def _remember(run: Run, route: Route, factor: float) -> None:
    row, is_new = TokenFactor.objects.get_or_create(
        provider=route.counts_as, model=route.model, defaults={"factor": factor, "samples": 1}
    )
    if is_new or (row.samples >= MEMORY and run.pk % MEMORY):
        return
    # In one statement: nobody reads what another is about to write.
    samples = Least(F("samples") + 1, MEMORY)
    TokenFactor.objects.filter(pk=row.pk).update(
        factor=F("factor") + (factor - F("factor")) / samples, samples=F("samples") + 1
    )
