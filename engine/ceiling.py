"""The most that a call can cost: what is set aside for it before it is made."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from agents.adapters.base import ModelRequest, Usage
from agents.catalogue import ModelEntry
from agents.models import Agent
from agents.own_models import entry_for
from agents.services.spending import Cost
from engine.routing import routes_of
from engine.text.prompt import HeartbeatPrompt
from engine.text.sections import Meter

SYSTEM_ALLOWANCE = 8_000
"""Tokens set aside at the claim for the system message, beside the company's budget for the other one. When the prompt
is built its real size takes their place."""

OUTPUT_SHARE = 0.4
"""Of a model's window, at most this much is for its answer."""

_MICRO = Decimal(1_000_000)


def claim_ceiling(agent: Agent) -> Cost:
    """The most that the first call of a run can cost, before its prompt is known and whoever of its chain answers: in
    tokens and in money, each by the dearest. Raises NoProvider."""
    costs = [_claim_ceiling(agent, entry_for(route.endpoint, route.model)) for route in routes_of(agent)]
    known = [cost.microdollars for cost in costs if cost.microdollars is not None]
    return Cost(max(cost.tokens for cost in costs), max(known) if known else None)


def _claim_ceiling(agent: Agent, entry: ModelEntry) -> Cost:
    output = max_output(agent, entry)
    asked = min(agent.company.prompt_budget + SYSTEM_ALLOWANCE, entry.context_window - output)
    return ceiling(entry, asked, output)


def prompt_ceiling(agent: Agent, prompt: HeartbeatPrompt, entry: ModelEntry, meter: Meter) -> Cost:
    """The most that a run's first call can cost, now that its prompt is known."""
    output = entry.thinking.output_ceiling(agent.thinking_level, prompt.output_tokens)
    return ceiling(entry, meter.guard(prompt.system) + meter.guard(prompt.user), output)


def request_ceiling(request: ModelRequest, entry: ModelEntry, meter: Meter) -> Cost:
    """The most that this call can cost: the careful count of all it sends, and the longest answer."""
    sent = meter.guard(request.system) + sum(meter.guard(message.text) for message in request.messages)
    return ceiling(entry, sent, request.output_ceiling)


def ceiling(entry: ModelEntry, input_tokens: int, output_tokens: int) -> Cost:
    """Tokens and micro-dollars of a call of that size; no money where the model has no known price."""
    return Cost(
        input_tokens + output_tokens,
        microdollars(entry, Usage(input_tokens=input_tokens, output_tokens=output_tokens)),
    )


def microdollars(entry: ModelEntry, usage: Usage) -> int | None:
    """What one call costs, rounded up: spending is never understated. None without a known price."""
    if usage.told_microdollars is not None:
        return usage.told_microdollars
    dollars = entry.cost(usage)
    return None if dollars is None else int((dollars * _MICRO).to_integral_value(rounding=ROUND_CEILING))


def max_output(agent: Agent, entry: ModelEntry) -> int:
    """Tokens that the agent's answer may have. More would leave a prompt too little of the window, and vendors count
    both together."""
    return min(agent.max_output_tokens or entry.max_output_tokens, int(entry.context_window * OUTPUT_SHARE))
