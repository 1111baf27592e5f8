"""Writing a run down: its prompt, its reply, its end. Every write is fenced."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import PROGRAMS, Adapter, Run, RunState
from agents.models.run import LIVE
from agents.services.breakers import PAUSES, note_answer
from agents.services.runs import consume_wakeups
from agents.services.spending import OverBudget, settle, settle_unknown
from engine import fence
from engine.calls import cost_of, figures, write_calls
from engine.completion import Answer, Unanswered
from engine.delivery import give_back, hold_back, put_back, release_undelivered
from engine.gate import Closed, Wait, open_route, until_budget
from engine.metering import learn_tokens
from engine.routing import masked
from engine.text.context import HeartbeatContext
from engine.text.prompt import HeartbeatPrompt
from issues.activity import record
from issues.actors import SYSTEM
from issues.effects import service
from issues.models import InboxKind
from issues.services.inbox import tell_board, tell_responsible

SECTIONS_TOLD = 5
"""Of a prompt that was too long."""


@service
def keep_prompt(run: Run, prompt: HeartbeatPrompt, context: HeartbeatContext) -> None:
    """Both messages exactly as they will be sent, with the places of their sections. Wakeups that did not fit are
    pending again."""
    fence.write(
        run,
        system_message=prompt.system,
        user_message=prompt.user,
        prompt_sections=[asdict(section) for section in prompt.sections],
        prompt_facts=run.prompt_facts  # what gathering noted
        | {
            "tokens": prompt.tokens,
            "is_exact": prompt.is_exact,
            "deferred": prompt.deferred,
            "breakpoints": [asdict(point) for point in prompt.breakpoints],
            "whole_skills": prompt.whole_skills,
            "hidden_characters": prompt.hidden_characters,
            "parameters": {
                "tier": context.tier.value,
                "window": context.limits.window,
                "prompt_budget": context.limits.prompt_budget,
                "max_output_tokens": prompt.output_tokens,
                "thinking": run.agent.thinking_level.value,
            },
        },
        contract_hash=prompt.contract_hash,
        instructions_hash=_hash(context.agent.instructions),
        skills_hash=_hash("\x00".join(f"{skill.name}\x00{skill.body}" for skill in context.skills)),
        scenario=context.scenario.value,
        prompt_built_at=timezone.now(),
    )
    if undelivered := {wakeup.id for wakeup in context.trigger.wakeups} - set(prompt.delivered):
        release_undelivered(run, undelivered)


@service
def keep_reply(run: Run, answer: Answer) -> None:
    """The reply exactly as received, before anybody reads it, and what each call cost."""
    usages = [call.usage for call in answer.calls]
    fence.write(
        run,
        reply=answer.text,
        replied_at=timezone.now(),
        stop_reason=answer.stop_reason,
        session=answer.session,
        answered_provider=answer.route.name,
        answered_model=masked(answer.calls[-1].model, run.company),
        **figures(run, usages, answer.route, answer.entry),
    )
    write_calls(run, answer.calls, answer.route, answer.entry)
    settle(run, cost_of(usages, answer.entry))
    learn_tokens(run, answer.route, answer.calls[0])
    note_answer(answer.route.key)


def finish(run: Run, **values: Any) -> None:
    """The run has done what it could; its wakeups are delivered. Inside the transaction that applied the reply."""
    now = timezone.now()
    fence.write(run, state=RunState.SUCCEEDED, ended_at=now, **values)
    consume_wakeups(run)
    _record_end(run)


@service
def keep_unanswered(run: Run, failure: Unanswered) -> None:
    """What the calls cost that came to nothing. The run goes on."""
    error = failure.error if isinstance(failure.error, AdapterError) else None
    usages = [call.usage for call in failure.calls] + ([error.usage] if error is not None else [])
    fence.write(run, **figures(run, usages, failure.route, failure.entry))
    write_calls(run, failure.calls, failure.route, failure.entry, error)
    settle(run, cost_of(usages, failure.entry))


@service
def fail_unanswered(run: Run, failure: Unanswered) -> None:
    """No answer came. What may pass is tried again later; what the budget does not allow waits for it, and so does what
    nobody is there to answer; the rest is told."""
    keep_unanswered(run, failure)
    error = failure.error
    if isinstance(error, OverBudget):
        _end_failed(run, "budget", str(error))
        if has_acted_by_key(run):
            _tell_final(run, f"{error} {_HAD_ACTED}")
        else:
            hold_back(run, until_budget(error, timezone.now()))
        return
    message = _told(run, failure, error)
    _end_failed(run, error.kind.value, message)
    wait = _until_answered(run, failure)
    if wait is not None:
        hold_back(run, wait)
    elif not (_may_pass(failure) and give_back(run, wait=error.retry_after)):
        _tell_final(run, message)


@service
def fail(run: Run, kind: str, message: str) -> None:
    """The run failed for good."""
    _end_failed(run, kind, message)
    settle_unknown(run)
    _tell_final(run, message)


@service
def lose(run: Run) -> None:
    """Nobody keeps the run alive any more and no reply was kept: its wakeups are pending again, a few times. Does
    nothing if it has moved since it was read."""
    outside = run.adapter == Adapter.EXTERNAL
    message = f"@{run.agent.handle} was not heard of again." if outside else "The worker that held the run is gone."
    seen = Run.objects.filter(pk=run.pk, attempt=run.attempt, lease_counter=run.lease_counter, state__in=LIVE)
    if not seen.update(state=RunState.LOST, ended_at=timezone.now(), error_kind="lost", error=message):
        return
    run.state, run.error = RunState.LOST, message
    settle_unknown(run)
    _record_end(run)
    if has_acted_by_key(run):
        _tell_final(run, f"{message} {_HAD_ACTED}")
    elif not give_back(run, wait=0):
        _tell_final(run, message)


@service
def give_up(run: Run) -> None:
    """The process that held the run was told to end while the model was awaited: another begins anew."""
    message = "The worker that held the run was told to end."
    fence.write(run, state=RunState.LOST, ended_at=timezone.now(), error_kind="lost", error=message)
    settle_unknown(run)
    _record_end(run)
    if has_acted_by_key(run):
        _tell_final(run, f"{message} {_HAD_ACTED}")
    else:
        put_back(run)


_HAD_ACTED = "It had acted before its reply, so it is for a person to say whether it runs again."


def has_acted_by_key(run: Run) -> bool:
    """Whether the run's program has acted by its key: running it again could do everything twice."""
    return run.adapter in PROGRAMS and (run.actions.exists() or run.comments.exists())


def _may_pass(failure: Unanswered) -> bool:
    """Whether a later try may succeed with one of those that were asked."""
    errors = (*failure.before, failure.error)
    return any(isinstance(error, AdapterError) and error.retryable for error in errors)


def _until_answered(run: Run, failure: Unanswered) -> Wait | None:
    """The wait of a run whose providers failed and are all left alone now; None while one of them may be asked."""
    errors = (*failure.before, failure.error)
    if not any(isinstance(error, AdapterError) and error.kind in PAUSES for error in errors):
        return None
    try:
        open_route(run.agent, timezone.now())
    except Closed as closed:
        return closed.wait
    return None


def _end_failed(run: Run, kind: str, message: str) -> None:
    error = masked(message, run.company)[:4_000]
    fence.write(run, state=RunState.FAILED, ended_at=timezone.now(), error_kind=kind, error=error)
    _record_end(run)


def _record_end(run: Run) -> None:
    if run.issue is not None:
        record(SYSTEM, "run.ended", run.issue, run=run.pk, state=run.state)


def _tell_final(run: Run, message: str) -> None:
    """A final failure is told: to who answers for the issue, and of a lost run to the board."""
    consume_wakeups(run)
    message = masked(message, run.company)
    issue = run.issue
    if issue is None:
        return
    if run.state == RunState.LOST:
        text = f"{issue.identifier}: the run of @{run.agent.handle} was lost and is not tried again. {message}"
        tell_board(InboxKind.FAILURE, text, company=run.company, issue=issue)
    else:
        text = f"{issue.identifier}: the run of @{run.agent.handle} failed. {message}"
        tell_responsible(InboxKind.FAILURE, text, issue=issue)


def _told(run: Run, failure: Unanswered, error: AdapterError) -> str:
    """What went wrong. A prompt that is too long is told with its size and its largest sections."""
    if error.kind is not ErrorKind.CONTEXT_TOO_LONG:
        return " Then: ".join(str(one) for one in (*failure.before, error))
    largest = sorted(run.prompt_sections, key=lambda section: -int(section["tokens"]))[:SECTIONS_TOLD]
    listed = ", ".join(f"{section['title']} {section['tokens']:,}" for section in largest)
    return (
        f"{error.message} The prompt has about {run.prompt_facts['tokens']:,} tokens; its largest sections: {listed}."
        f" The model is taken to have a window of {failure.entry.context_window:,} tokens. If that is wrong, say so"
        " in models.yaml."
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
