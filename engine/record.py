"""Writing a run down: its prompt, its reply, its end. Every write is fenced."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from django.utils import timezone

from agents.adapters.base import AdapterError, Completion, Usage
from agents.catalogue import ModelEntry
from agents.models import ModelCall, Run, RunState, Wakeup, WakeupState
from agents.services.runs import consume_wakeups
from agents.services.wakeups import ring_after_commit
from engine import fence
from engine.completion import Answer, Unanswered
from engine.routing import Route
from engine.text.context import HeartbeatContext
from engine.text.prompt import HeartbeatPrompt
from issues.activity import record
from issues.actors import SYSTEM
from issues.effects import unit
from issues.models import InboxKind
from issues.services.inbox import tell, tell_board

TRIES = 3
"""A wakeup is delivered to so many runs that failed or were lost before it counts as finally failed."""

BACKOFF = (datetime.timedelta(seconds=30), datetime.timedelta(minutes=2), datetime.timedelta(minutes=10))
"""Until the next try, by tries so far; a provider's own wish counts if it is longer."""

_MICRO = Decimal(1_000_000)


def keep_prompt(run: Run, prompt: HeartbeatPrompt, context: HeartbeatContext) -> None:
    """Both messages exactly as they will be sent, with the places of their sections. Wakeups that did not fit are
    pending again."""
    with unit():
        fence.write(
            run,
            system_message=prompt.system,
            user_message=prompt.user,
            prompt_sections=[asdict(section) for section in prompt.sections],
            prompt_facts={
                "tokens": prompt.tokens,
                "is_exact": prompt.is_exact,
                "deferred": prompt.deferred,
                "whole_skills": prompt.whole_skills,
                "hidden_characters": prompt.hidden_characters,
            },
            contract_hash=prompt.contract_hash,
            instructions_hash=_hash(context.agent.instructions),
            skills_hash=_hash("\x00".join(f"{skill.name}\x00{skill.body}" for skill in context.skills)),
            scenario=context.scenario.value,
            prompt_built_at=timezone.now(),
        )
        release_wakeups(run, except_ids=prompt.delivered)


def keep_reply(run: Run, answer: Answer) -> None:
    """The reply exactly as received, before anybody reads it, and what each call cost."""
    with unit():
        fence.write(
            run,
            reply=answer.text,
            replied_at=timezone.now(),
            stop_reason=answer.stop_reason,
            answered_model=answer.calls[-1].model,
            **_figures(answer.calls, answer.route, answer.entry),
        )
        _write_calls(run, answer.calls, answer.route, answer.entry)


def finish(run: Run, **values: Any) -> None:
    """The run has done what it could; its wakeups are delivered. Inside the transaction that applied the reply."""
    now = timezone.now()
    fence.write(run, state=RunState.SUCCEEDED, ended_at=now, **values)
    consume_wakeups(run)
    _record_end(run)


def fail_unanswered(run: Run, failure: Unanswered) -> None:
    """No answer came. What may pass is tried again later; the rest is told."""
    with unit():
        _write_calls(run, failure.calls, failure.route, failure.entry)
        _write_failed_call(run, failure)
        error = failure.error
        _fail(
            run,
            error.kind.value,
            error.message,
            retry_after=error.retry_after if error.retryable else None,
            retryable=error.retryable,
            **_figures(failure.calls, failure.route, failure.entry),
        )


def fail(run: Run, kind: str, message: str) -> None:
    """The run failed for good."""
    with unit():
        _fail(run, kind, message)


def lose(run: Run) -> None:
    """The run's worker is gone and left no reply: its wakeups are due again, up to `TRIES` times."""
    with unit():
        now = timezone.now()
        lost = Run.objects.filter(pk=run.pk, attempt=run.attempt, state__in=(RunState.QUEUED, RunState.RUNNING))
        message = "The worker that held the run is gone."
        if not lost.update(state=RunState.LOST, ended_at=now, error_kind="lost", error=message):
            return
        run.state, run.error = RunState.LOST, message
        _record_end(run)
        if not _give_back(run, now, retry_after=0.0):
            _tell_final(run, "The worker was lost each time it tried.")


def _fail(
    run: Run, kind: str, message: str, *, retryable: bool = False, retry_after: float | None = None, **figures: Any
) -> None:
    now = timezone.now()
    fence.write(run, state=RunState.FAILED, ended_at=now, error_kind=kind, error=message[:4_000], **figures)
    _record_end(run)
    if retryable and _give_back(run, now, retry_after=retry_after):
        return
    consume_wakeups(run)
    _tell_final(run, message)


def release_wakeups(run: Run, *, except_ids: Collection[int]) -> None:
    """Give back at once what the prompt had no room for."""
    for wakeup in run.wakeups.filter(state=WakeupState.CLAIMED).exclude(pk__in=except_ids):
        _return(wakeup, due_at=timezone.now(), tries=wakeup.tries, because="The prompt before had no room for it.")


def _give_back(run: Run, now: datetime.datetime, *, retry_after: float | None) -> bool:
    """Make the run's wakeups pending again with a due time; False if they were tried often enough."""
    wakeups = list(run.wakeups.select_for_update().filter(state=WakeupState.CLAIMED).order_by("pk"))
    tries = max((wakeup.tries for wakeup in wakeups), default=0) + 1
    if tries >= TRIES:
        return False
    wait = BACKOFF[tries - 1] if retry_after is None else datetime.timedelta(seconds=retry_after)
    for wakeup in wakeups:
        _return(wakeup, due_at=now + wait, tries=tries, because=f"Try {tries} failed: {run.error}")
    ring_after_commit()
    return bool(wakeups)


def _return(wakeup: Wakeup, *, due_at: datetime.datetime, tries: int, because: str) -> None:
    """Make a claimed wakeup pending again. One that has a pending twin by now merges into it, which keeps the higher
    count of tries."""
    twin = Wakeup.objects.select_for_update().filter(key=wakeup.key, state=WakeupState.PENDING).first()
    if twin is not None:
        twin.tries = max(twin.tries, tries)
        twin.save(update_fields=["tries"])
        wakeup.state, wakeup.ended_at = WakeupState.STALE, timezone.now()
        wakeup.ended_because = "An equal wakeup came meanwhile and stands for it."
    else:
        wakeup.state, wakeup.claimed_at, wakeup.run = WakeupState.PENDING, None, None
        wakeup.tries, wakeup.due_at, wakeup.waiting_because = tries, due_at, because[:300]
    wakeup.save()


def _record_end(run: Run) -> None:
    if run.issue is not None:
        record(SYSTEM, "run.ended", run.issue, run=run.pk, state=run.state)


def _tell_final(run: Run, message: str) -> None:
    """A final failure is told to who answers for the issue."""
    issue = run.issue
    if issue is None:
        return
    consume_wakeups(run)
    text = f"{issue.identifier}: the run of @{run.agent.handle} failed. {message}"
    if run.state == RunState.LOST:
        tell_board(InboxKind.FAILURE, text, company=run.company, issue=issue)
    else:
        tell([issue.responsible], InboxKind.FAILURE, text, company=run.company, issue=issue)


def _figures(calls: Sequence[Completion], route: Route, entry: ModelEntry) -> dict[str, Any]:
    usage = sum((call.usage for call in calls), Usage())
    return {
        "provider": route.endpoint.provider,
        "model": route.model,
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_microdollars": _sum_costs(calls, entry),
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _sum_costs(calls: Sequence[Completion], entry: ModelEntry) -> int | None:
    """The cost of all calls; None as soon as one has no known price."""
    costs = [_cost(entry, call.usage) for call in calls]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _cost(entry: ModelEntry, usage: Usage) -> int | None:
    """In micro-dollars, rounded up: spending is never understated."""
    dollars = entry.cost(usage)
    return None if dollars is None else int((dollars * _MICRO).to_integral_value(rounding="ROUND_CEILING"))


def _write_calls(run: Run, calls: Sequence[Completion], route: Route, entry: ModelEntry) -> None:
    now = timezone.now()
    ModelCall.objects.bulk_create(
        ModelCall(
            company=run.company,
            run=run,
            attempt=run.attempt,
            provider=route.endpoint.provider,
            model=route.model,
            answered_model=call.model,
            request_id=call.provider_request_id,
            stop_reason=call.stop_reason.value,
            input_tokens=call.usage.input_tokens,
            cached_tokens=call.usage.cached_input_tokens,
            output_tokens=call.usage.output_tokens,
            reasoning_tokens=call.usage.reasoning_tokens,
            cost_microdollars=_cost(entry, call.usage),
            started_at=now - datetime.timedelta(seconds=call.seconds),
            seconds=call.seconds,
        )
        for call in calls
    )


def _write_failed_call(run: Run, failure: Unanswered) -> None:
    error: AdapterError = failure.error
    ModelCall.objects.create(
        company=run.company,
        run=run,
        attempt=run.attempt,
        provider=failure.route.endpoint.provider,
        model=failure.route.model,
        request_id=error.provider_request_id,
        input_tokens=error.usage.input_tokens,
        output_tokens=error.usage.output_tokens,
        cost_microdollars=_cost(failure.entry, error.usage),
        error_kind=error.kind.value,
        error=error.message,
        started_at=timezone.now(),
    )
