"""A run's page: what an agent was shown, what it said, and what became of it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from agents.failures import explain_failure
from agents.models import PROGRAMS, ActionOutcome, Adapter, ModelCall, Run, RunAction, RunOutput, RunState
from agents.models.run import HEARTBEAT
from agents.views.lookup import find_run, previous_run
from agents.views.prompts import read_reply, read_sections
from agents.views.run_limits import budgets_left, limits_of, with_counts
from agents.views.run_origins import causes_of, chain_of, moments_of, wakeups_of
from engine.dry_runs import worst_case
from engine.text.types import DropReason
from issues.markdown import Place
from issues.models import Comment, Priority, Status
from issues.names import Names, Wanted
from issues.pages import Visit, company_page, is_partial, show

MOST_WOKEN = 50
MOST_DRY_RUNS = 5

_ROWS = frozenset({"issue", "approval", "comment", "agent", "routine", "skill", "note", "finding", "observation"})
"""Names under which an action keeps the id of the row that it made: the page links to it and shows no numbers."""

_WORDS = {
    "status": {status.value: status.label for status in Status},
    "priority": {priority.slug: str(priority.label) for priority in Priority},
}
"""What people call the values that an action keeps as words of the protocol."""

_DROPPED = {
    DropReason.UNKNOWN_VERB: "there is no such verb",
    DropReason.MISSING_ARGUMENT: "it lacks what it is about",
    DropReason.MISSING_BODY: "its text in a fence never came",
    DropReason.MALFORMED_FENCE: "its fence does not close",
}


@dataclass(frozen=True, slots=True)
class Act:
    """An action with what it changed, name by name."""

    action: RunAction
    changes: list[tuple[str, Any, Any]]


@dataclass(frozen=True, slots=True)
class Since:
    """The agent's run before on the same issue, and what it is told otherwise since, in words."""

    run: int
    changed: tuple[str, ...]


@require_safe
@company_page
def run_page(request: HttpRequest, visit: Visit, run: int) -> HttpResponse:
    found = find_run(visit, run, counted=with_counts)
    template = "agents/run_view.html" if is_partial(request) else "agents/run.html"
    return show(request, visit, template, _context(visit, found))


@require_safe
@company_page
def run_output(request: HttpRequest, visit: Visit, run: int) -> HttpResponse:
    """What the run's program shows of its work: the part of the page that is fetched while it works."""
    found = find_run(visit, run)
    return show(request, visit, "agents/output.html", {"run": found, "output": _output(found)})


def _output(run: Run) -> RunOutput | None:
    return RunOutput.objects.filter(run=run).first() if run.adapter in PROGRAMS else None


def _context(visit: Visit, run: Run) -> dict[str, Any]:
    actions = list(run.actions.select_related("issue", "approval"))
    wakeups = wakeups_of(run)
    calls = list(run.calls.filter(purpose=HEARTBEAT).order_by("pk"))
    comments = list(run.comments.filter(deleted_at=None).order_by("pk"))
    names = Names(visit.company, Wanted(issues=_issues_named(actions)))
    sections = read_sections(run)
    took = _took(run)
    return {
        "at": reverse("runs", args=[visit.company.slug]),
        "run": run,
        "agent": names.agents.get(run.agent_id),
        "names": names,
        "place": Place(visit.company.key, names.handles),
        "outcome": _outcome(run, actions, comments),
        "failure": explain_failure(run.error_kind) if run.error_kind else None,
        "request_id": next((call.request_id for call in reversed(calls) if call.request_id), ""),
        "causes": causes_of(wakeups, names),
        "chain": chain_of(run, wakeups, names),
        "moments": moments_of(run, wakeups, calls),
        "took": took.total_seconds() if took is not None else None,
        "acts": [Act(action, _changes(action, names)) for action in actions],
        "dropped": [{**drop, "why": _DROPPED[DropReason(drop["reason"])]} for drop in run.dropped],
        "comments": comments,
        "reply": read_reply(run, acting={action.line for action in actions}),
        "is_program": run.adapter in PROGRAMS,
        "output": _output(run),
        "sections": sections,
        "prompt_bytes": sum(section.size for section in sections),
        "prompt_tokens": sum(section.tokens for section in sections),
        "parameters": run.prompt_facts.get("parameters"),
        "hidden": run.prompt_facts.get("hidden_characters", 0),
        "since": _since_before(run),
        "calls": calls,
        "prices": _prices(calls),
        "limits": limits_of(run, actions, took),
        "budgets": budgets_left(run),
        "dry_runs": list(run.dry_runs.select_related("member__user").order_by("-pk")[:MOST_DRY_RUNS]),
        "may_run_dry": not run.is_live and run.adapter == Adapter.LLM and bool(run.user_message) and run.issue_id,
        "worst_case": worst_case(run) if not run.is_live and run.adapter not in PROGRAMS else None,
        "caused": [(row, names.agents.get(row.agent_id)) for row in run.caused_wakeups.order_by("pk")[:MOST_WOKEN]],
    }


def _took(run: Run) -> datetime.timedelta | None:
    """How long the run was, or has been, at work; None before it began."""
    if run.started_at is None:
        return None
    return (run.ended_at or timezone.now()) - run.started_at


def _since_before(run: Run) -> Since | None:
    before = previous_run(run) if run.prompt_built_at else None
    if before is None:
        return None
    hashes = {
        "contract": (before.contract_hash, run.contract_hash),
        "instructions": (before.instructions_hash, run.instructions_hash),
        "skills": (before.skills_hash, run.skills_hash),
    }
    return Since(before.pk, tuple(name for name, (was, now) in hashes.items() if was != now))


def _prices(calls: Sequence[ModelCall]) -> list[dict[str, str]]:
    """The prices by which the calls were reckoned, each once."""
    prices: list[dict[str, str]] = []
    for call in calls:
        if call.price and call.price not in prices:
            prices.append(call.price)
    return prices


def _outcome(run: Run, actions: Sequence[RunAction], comments: Sequence[Comment]) -> str:
    """The run in one line of words."""
    if run.state == RunState.QUEUED:
        return "Waits for a worker."
    if run.state == RunState.RUNNING:
        if run.reply is None and run.adapter in PROGRAMS:
            return "The program is at work."
        return "The reply is being applied." if run.reply is not None else "Waits for the answer."
    if run.state != RunState.SUCCEEDED:
        return explain_failure(run.error_kind).meaning if run.error_kind else run.error
    return " ".join(filter(None, (_said(comments), _did(actions), _dropped(run))))


def _said(comments: Sequence[Comment]) -> str:
    if not comments:
        return ""
    return "Wrote a comment." if len(comments) == 1 else f"Wrote {len(comments)} comments."


def _did(actions: Sequence[RunAction]) -> str:
    if not actions:
        return "Asked for no action."
    if all(action.verb == "pass" for action in actions):
        return f"Passed: {actions[0].args}"
    parts = [
        f"{count} {words}"
        for outcome, words in (
            (ActionOutcome.APPLIED, "applied"),
            (ActionOutcome.APPROVAL, "waiting for approval"),
            (ActionOutcome.DENIED, "denied"),
            (ActionOutcome.FAILED, "failed"),
        )
        if (count := sum(action.outcome == outcome for action in actions))
    ]
    return f"{len(actions)} {'action' if len(actions) == 1 else 'actions'}: {', '.join(parts)}."


def _dropped(run: Run) -> str:
    if not run.dropped:
        return ""
    return "1 line was dropped." if len(run.dropped) == 1 else f"{len(run.dropped)} lines were dropped."


def _changes(action: RunAction, names: Names) -> list[tuple[str, Any, Any]]:
    keys = [*action.before, *(key for key in action.after if key not in action.before)]
    return [
        (key.replace("_", " "), _named(key, action.before.get(key), names), _named(key, action.after.get(key), names))
        for key in keys
        if action.before.get(key) != action.after.get(key)
        and not (key in _ROWS and isinstance(action.after.get(key), int))
    ]


def _issues_named(actions: Sequence[RunAction]) -> frozenset[int]:
    ids = {action.issue_id for action in actions if action.issue_id}
    for action in actions:
        ids.update(action.before.get("blockers", ()), action.after.get("blockers", ()))
    return frozenset(ids)


def _named(key: str, value: Any, names: Names) -> Any:
    """A reference, a status and a priority by their names, everything else as it is."""
    if key == "blockers" and isinstance(value, list):
        return [names.issues[pk].identifier if pk in names.issues else "a deleted issue" for pk in value]
    if isinstance(value, str):
        return _WORDS.get(key, {}).get(value, value)
    somebody = names.refer(value) if isinstance(value, dict) else None
    return somebody.name if somebody else value
