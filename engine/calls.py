"""The model calls of a run: a row each, and their sums on the run."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from agents.adapters.base import AdapterError, Completion, Usage
from agents.catalogue import ModelEntry
from agents.models import ModelCall, Run
from agents.models.run import HEARTBEAT
from agents.services.spending import NOTHING, Cost
from engine.ceiling import microdollars
from engine.routing import Route, masked
from issues.models import Company
from issues.prepared import Prepared


def write_calls(
    run: Run,
    calls: Sequence[Completion],
    route: Route,
    entry: ModelEntry,
    failure: AdapterError | None = None,
    *,
    purpose: str = HEARTBEAT,
) -> None:
    """Write down each call that was answered, and the one that failed after them."""
    made: list[Completion | AdapterError] = [*calls, *([failure] if failure is not None else [])]
    of_run = {"run": run, "attempt": run.attempt, "purpose": purpose}
    ModelCall.objects.bulk_create(_row(run.company, route, entry, call, **of_run) for call in made)


def write_call(
    company: Company, purpose: str, route: Route, entry: ModelEntry, call: Completion | AdapterError, **fields: Any
) -> Cost:
    """Write down a call that was made beside all runs, answered or failed; what it cost. `fields` of the row stand
    above what the call says of itself."""
    _row(company, route, entry, call, purpose=purpose, **fields).save(force_insert=True)
    return cost_of([call.usage], entry)


def cost_of(usages: Sequence[Usage], entry: ModelEntry) -> Cost:
    """What these calls cost together."""
    costs = [Cost(usage.input_tokens + usage.output_tokens, microdollars(entry, usage)) for usage in usages]
    return sum(costs, NOTHING)


def figures(run: Run, usages: Sequence[Usage], route: Route, entry: ModelEntry) -> dict[str, Any]:
    """The run's fields with these calls on top of those that it had: whom it asked first, and what all cost together,
    None as soon as one call has no known price.

    What it had is read anew: the object may hold what a transaction wrote that the database took back.
    """
    [found] = _had.rows(run.pk) or [()]
    had = Run(**dict(zip(_FIGURES, found, strict=False)))
    total = sum(usages, Usage())
    cost = cost_of(usages, entry).microdollars
    had_calls = bool(had.model)
    if had_calls:
        known = cost is not None and had.cost_microdollars is not None
        cost = (cost or 0) + (had.cost_microdollars or 0) if known else None
    return {
        "provider": had.provider if had_calls else route.name,
        "model": had.model if had_calls else route.model,
        "input_tokens": had.input_tokens + total.input_tokens,
        "cached_tokens": had.cached_tokens + total.cached_input_tokens,
        "output_tokens": had.output_tokens + total.output_tokens,
        "reasoning_tokens": had.reasoning_tokens + total.reasoning_tokens,
        "cost_microdollars": cost,
    }


_FIGURES = (
    "provider", "model", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_microdollars",
)  # fmt: skip
_had = Prepared(lambda run: Run.objects.filter(pk=run).values_list(*_FIGURES))


def _row(
    company: Company, route: Route, entry: ModelEntry, call: Completion | AdapterError, **fields: Any
) -> ModelCall:
    usage = call.usage
    told = _answered(call, company) if isinstance(call, Completion) else _failed(call, company)
    return ModelCall(
        company=company,
        provider=route.name,
        model=route.model,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost_microdollars=microdollars(entry, usage),
        price=price_used(entry, usage),
        **(told | fields),
    )


def price_used(entry: ModelEntry, usage: Usage) -> dict[str, str]:
    """The price of a call as its row keeps it: prices change, and what a call cost must stay understood."""
    price = entry.price(usage.input_tokens) if usage.told_microdollars is None else None
    if price is None:
        return {}
    return {
        "input": str(price.input),
        "cached_input": str(price.cached_input),
        "cache_write": str(price.cache_write),
        "output": str(price.output),
    }


def _answered(call: Completion, company: Company) -> dict[str, Any]:
    return {
        "answered_model": masked(call.model, company),
        "request_id": masked(call.provider_request_id, company),
        "stop_reason": call.stop_reason.value,
        "started_at": timezone.now() - datetime.timedelta(seconds=call.seconds),
        "seconds": call.seconds,
        "tries": call.attempts,
    }


def _failed(failure: AdapterError, company: Company) -> dict[str, Any]:
    return {
        "request_id": masked(failure.provider_request_id, company),
        "error_kind": failure.kind.value,
        "error": masked(failure.message, company),
        "started_at": timezone.now(),
        "tries": failure.attempts,
    }
