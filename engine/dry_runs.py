"""Dry re-runs: the kept prompt goes to the agent's model once more, and the answer is rehearsed, not applied.

Losing one costs a click: it changes nothing, so it is not resumed but ended, and told.
"""

from __future__ import annotations

import copy
import datetime

import structlog
from django.db.models import Exists, OuterRef
from django.utils import timezone

from agents.adapters.base import AdapterError, Usage
from agents.catalogue import ModelEntry
from agents.models import DryRun, Reservation, Run
from agents.models.dry_run import OPEN, DryRunState
from agents.own_models import entry_for
from agents.services.breakers import note_answer, note_failure
from agents.services.spending import Cost, OverBudget, reserve, settle
from engine.calls import cost_of, write_calls
from engine.ceiling import ceiling
from engine.claim import RUN_DEADLINE
from engine.completion import Answer, Unanswered, complete
from engine.doorbell import ring_to_rehearse
from engine.gate import Closed, open_route
from engine.leases import Lease
from engine.outcomes import plain
from engine.rehearsal import Rehearsed, rehearse
from engine.routing import NoProvider, choose_endpoint, masked
from engine.text.prompt import HeartbeatPrompt
from engine.text.sections import CacheBreakpoint
from engine.troubles import called
from engine.turns import database_turn
from issues.activity import record
from issues.actors import SYSTEM
from issues.effects import service, unit

log = structlog.get_logger(__name__)

PURPOSE = "dry run"
"""As its calls are named among the company's."""

LEFT_BEHIND = RUN_DEADLINE + datetime.timedelta(minutes=1)
"""Nobody is at a dry re-run any more that began so long ago."""


def worst_case(run: Run) -> Cost | None:
    """The most that asking the run's prompt again costs in its first call; None without a prompt or a model."""
    if not run.prompt_facts.get("tokens"):
        return None
    try:
        route = choose_endpoint(run.agent)
    except NoProvider:
        return None
    return _ceiling(run, entry_for(route.endpoint, route.model))


def answer_dry_run(pk: int) -> None:
    """Take a pending dry re-run and see it through. One that somebody else has taken is left to them."""
    with database_turn():
        dry_run = _take(pk)
    if dry_run is None:
        return
    try:
        answer = _ask(dry_run.run)
        with database_turn():
            _finish(dry_run, answer, rehearse(dry_run.run, answer.text))
    except Unanswered as failure:
        with database_turn():
            if isinstance(failure.error, AdapterError):
                note_failure(dry_run.company, called(failure.route), failure.error)
            _fail_unanswered(dry_run, failure)
    except Closed as closed:
        with database_turn():
            _fail(dry_run, "", closed.wait.reason)
    except OverBudget as refusal:
        with database_turn():
            _fail(dry_run, "budget", str(refusal))
    except Exception as error:
        log.exception("dry_run.failed", dry_run=pk)
        with database_turn():
            _fail(dry_run, "error", f"{type(error).__name__}: {error}")


def tend_dry_runs() -> None:
    """End those whose worker is gone, and ring for those that nobody took."""
    for pk in DryRun.objects.filter(state=DryRunState.PENDING).values_list("pk", flat=True):
        ring_to_rehearse(pk)
    old = DryRun.objects.filter(state=DryRunState.RUNNING, started_at__lt=timezone.now() - LEFT_BEHIND)
    for dry_run in old.select_related("company", "run__agent", "run__issue__company", "run__company"):
        _fail(dry_run, "lost", "The worker that held it is gone.")


def _take(pk: int) -> DryRun | None:
    """The pending dry re-run, unless another call of its run is still being paid: the next sweep comes by again."""
    # Without a join: what is joined goes into a subquery, which PostgreSQL does not look at again after a wait.
    is_paid = Exists(Reservation.objects.filter(run=OuterRef("run")))
    taken = DryRun.objects.filter(~is_paid, pk=pk, state=DryRunState.PENDING)
    if not taken.update(state=DryRunState.RUNNING, started_at=timezone.now()):
        return None
    rows = DryRun.objects.select_related(
        "company", "run__agent__company", "run__company", "run__issue__company", "run__chain_member__user"
    )
    return rows.get(pk=pk)


def _ask(run: Run) -> Answer:
    """The answer to the kept prompt of the first of the agent's models that is not left alone, with what its first call
    could cost set aside. Raises Unanswered, OverBudget, Closed."""
    asked = copy.copy(run)
    asked.deadline_at = timezone.now() + RUN_DEADLINE
    with database_turn(begins=True), unit():
        route = open_route(run.agent, timezone.now()).route
        entry = entry_for(route.endpoint, route.model)
        reserve(run, _ceiling(run, entry), starts_run=False)
    return complete(asked, _kept_prompt(run, entry), route, Lease(asked))


def _kept_prompt(run: Run, entry: ModelEntry) -> HeartbeatPrompt:
    """The prompt as it was sent. Without what only matters when one is built."""
    facts = run.prompt_facts
    return HeartbeatPrompt(
        system=run.system_message,
        user=run.user_message,
        sections=(),
        breakpoints=tuple(CacheBreakpoint(**point) for point in facts.get("breakpoints", ())),
        contract_hash=run.contract_hash,
        deferred=(),
        delivered=(),
        whole_skills=tuple(facts.get("whole_skills", ())),
        hidden_characters=0,
        tokens=facts["tokens"],
        is_exact=facts.get("is_exact", False),
        output_tokens=_output_tokens(run, entry),
    )


def _output_tokens(run: Run, entry: ModelEntry) -> int:
    """The room for the answer that the run had, as far as the agent's present model has it."""
    given = run.prompt_facts.get("parameters", {}).get("max_output_tokens", entry.max_output_tokens)
    return min(int(given), entry.max_output_tokens)


def _ceiling(run: Run, entry: ModelEntry) -> Cost:
    """The most that the first call can cost."""
    output = entry.thinking.output_ceiling(run.agent.thinking_level, _output_tokens(run, entry))
    return ceiling(entry, run.prompt_facts["tokens"], output)


@service
def _finish(dry_run: DryRun, answer: Answer, rehearsed: Rehearsed) -> None:
    _account(dry_run, answer, [call.usage for call in answer.calls])
    is_silent = rehearsed.run.error_kind == "silent"
    _end(
        dry_run,
        DryRunState.FAILED if is_silent else DryRunState.DONE,
        model=masked(answer.calls[-1].model, dry_run.company),
        reply=answer.text,
        prose=rehearsed.prose,
        actions=[plain(outcome) for outcome in rehearsed.outcomes],
        dropped=rehearsed.run.dropped,
        error_kind=rehearsed.run.error_kind,
        error=rehearsed.run.error,
    )
    note_answer(answer.route.key)


@service
def _fail_unanswered(dry_run: DryRun, failure: Unanswered) -> None:
    error = failure.error if isinstance(failure.error, AdapterError) else None
    _account(dry_run, failure, [call.usage for call in failure.calls] + ([error.usage] if error else []))
    kind = error.kind.value if error is not None else "budget"
    _end(dry_run, DryRunState.FAILED, error_kind=kind, error=masked(str(failure.error), dry_run.company)[:4_000])


@service
def _fail(dry_run: DryRun, kind: str, message: str) -> None:
    settle(dry_run.run, None)  # a call may have been billed; before one, nothing was set aside
    _end(dry_run, DryRunState.FAILED, error_kind=kind, error=masked(message, dry_run.company)[:4_000])


def _account(dry_run: DryRun, asked: Answer | Unanswered, usages: list[Usage]) -> None:
    """Its calls as rows, and what they cost instead of what was set aside."""
    error = asked.error if isinstance(asked, Unanswered) and isinstance(asked.error, AdapterError) else None
    write_calls(dry_run.run, asked.calls, asked.route, asked.entry, error, purpose=PURPOSE)
    cost = cost_of(usages, asked.entry)
    dry_run.tokens, dry_run.cost_microdollars = cost.tokens, cost.microdollars
    settle(dry_run.run, cost)


def _end(dry_run: DryRun, state: DryRunState, **values: object) -> None:
    """Write it down, unless it was ended meanwhile."""
    figures = {"tokens": dry_run.tokens, "cost_microdollars": dry_run.cost_microdollars}
    held = DryRun.objects.filter(pk=dry_run.pk, state__in=OPEN)
    if held.update(state=state, ended_at=timezone.now(), **figures, **values) and dry_run.run.issue is not None:
        record(SYSTEM, "run.dry_run_ended", dry_run.run.issue, run=dry_run.run_id, dry_run=dry_run.pk)
