"""Runs: the list, and the page that shows what an agent was shown, what it said, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agents.models import ActionOutcome, Run, RunAction, RunState, Wakeup
from agents.services.runs import cancel_run
from agents.services.wakeups import run_heartbeat
from agents.views.lookup import as_number, find_run, previous_run
from agents.views.prompts import read_reply, read_sections
from issues.markdown import Place
from issues.names import Names, Wanted
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import Conflict

PAGE = 50
_TEXTS = ("system_message", "user_message", "prompt_sections", "reply", "dropped")


@require_safe
@company_page
def runs(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Newest first; `before` is the id of the last run of the page before."""
    chosen = _filtered(visit, request.GET)
    before = as_number(request.GET.get("before", ""))
    page = chosen.filter(pk__lt=before) if before is not None else chosen
    rows = list(page.defer(*_TEXTS).select_related("issue").annotate(**_counts()).order_by("-pk")[: PAGE + 1])
    names = Names(visit.company)
    context = {
        "at": reverse("runs", args=[visit.company.slug]),
        "rows": [{"run": run, "agent": names.agents.get(run.agent_id)} for run in rows[:PAGE]],
        "next": rows[PAGE - 1].pk if len(rows) > PAGE else None,
        "names": names,
        "states": list(RunState),
        "chosen": {name: request.GET.get(name, "") for name in ("agent", "state", "only")},
        "totals": chosen.aggregate(
            runs=Count("pk"), tokens=Sum("input_tokens") + Sum("output_tokens"), cost=Sum("cost_microdollars")
        ),
    }
    template = "agents/runs_view.html" if is_partial(request) else "agents/runs.html"
    return show(request, visit, template, context)


@require_safe
@company_page
def run_page(request: HttpRequest, visit: Visit, run: int) -> HttpResponse:
    found = find_run(visit, run)
    template = "agents/run_view.html" if is_partial(request) else "agents/run.html"
    return show(request, visit, template, _context(visit, found))


@require_POST
@company_page
def cancel(request: HttpRequest, visit: Visit, run: int) -> HttpResponse:
    found = find_run(visit, run)
    cancel_run(actor=visit.person, run=found)
    return changed(request, f"Run {run} is cancelled.", to=reverse("run", args=[visit.company.slug, run]))


@require_POST
@company_page
def again(request: HttpRequest, visit: Visit, run: int) -> HttpResponse:
    """Let the same agent look at the same issue once more."""
    found = find_run(visit, run)
    if found.issue is None:
        raise Conflict("The issue of this run was deleted.")
    run_heartbeat(actor=visit.person, agent=found.agent, issue=found.issue)
    to = reverse("issue", args=[visit.company.slug, found.issue.identifier])
    return changed(request, f"{found.agent.name} is woken again.", to=to)


@dataclass(frozen=True, slots=True)
class Act:
    """An action with what it changed, name by name."""

    action: RunAction
    changes: list[tuple[str, Any, Any]]


@dataclass(frozen=True, slots=True)
class Link:
    """A step of the chain from the person, or the clock, to this run."""

    wakeup: Wakeup
    by: Any
    agent: Any
    run: int | None


def _context(visit: Visit, run: Run) -> dict[str, Any]:
    actions = list(run.actions.select_related("issue", "approval"))
    wakeups = list(run.wakeups.select_related("comment", "approval", "subject_issue").order_by("pk"))
    issue_ids = frozenset(action.issue_id for action in actions if action.issue_id)
    names = Names(visit.company, Wanted(issues=issue_ids))
    sections = read_sections(run)
    return {
        "at": reverse("runs", args=[visit.company.slug]),
        "run": run,
        "agent": names.agents.get(run.agent_id),
        "names": names,
        "place": Place(visit.company.key, names.handles),
        "acts": [Act(action, _changes(action, names)) for action in actions],
        "outcome": _outcome(run, actions),
        "wakeups": [
            {"wakeup": row, "by": names.somebody(agent=row.by_agent_id, member=row.member_id)} for row in wakeups
        ],
        "chain": _chain(run, wakeups, names),
        "sections": sections,
        "since": _since_before(run),
        "prompt_bytes": sum(section.size for section in sections),
        "prompt_tokens": sum(section.tokens for section in sections),
        "reply": read_reply(run, acting={action.line for action in actions}),
        "comments": list(run.comments.filter(deleted_at=None)),
        "calls": list(run.calls.order_by("pk")),
        "caused": list(run.caused_wakeups.select_related("issue").order_by("pk")[:50]),
        "took": (run.ended_at - run.started_at).total_seconds() if run.ended_at and run.started_at else None,
        "waited": (run.started_at - run.created_at).total_seconds() if run.started_at else None,
        "answered_in": (run.replied_at - run.started_at).total_seconds() if run.replied_at and run.started_at else None,
    }


@dataclass(frozen=True, slots=True)
class Since:
    """The agent's run before on the same issue, and what it is told otherwise since, in words."""

    run: int
    changed: tuple[str, ...]


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


def _filtered(visit: Visit, query: Any) -> QuerySet[Run]:
    chosen = Run.objects.filter(company=visit.company)
    agent = as_number(query.get("agent", ""))
    if agent is not None:
        chosen = chosen.filter(agent=agent)
    if query.get("state") in RunState.values:
        chosen = chosen.filter(state=query["state"])
    only = query.get("only")
    if only == "denied":
        chosen = chosen.filter(Exists(_actions(outcome=ActionOutcome.DENIED)))
    elif only == "unchanged":
        chosen = chosen.filter(~Exists(_actions(outcome=ActionOutcome.APPLIED)), state=RunState.SUCCEEDED)
    return chosen


def _actions(**condition: Any) -> QuerySet[RunAction]:
    return RunAction.objects.filter(run=OuterRef("pk"), **condition)


def _counts() -> dict[str, Count]:
    return {
        outcome.value + "_actions": Count("actions", filter=Q(actions__outcome=outcome)) for outcome in ActionOutcome
    }


def _outcome(run: Run, actions: list[RunAction]) -> str:
    """The run in one line of words."""
    if run.state == RunState.QUEUED:
        return "Waits for a worker."
    if run.state == RunState.RUNNING:
        return "The reply is being applied." if run.reply is not None else "Waits for the answer."
    if run.state != RunState.SUCCEEDED:
        return run.error or f"{run.get_state_display()}."
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
    if not parts:
        return "Answered, and asked for no action."
    return f"{len(actions)} {'action' if len(actions) == 1 else 'actions'}: {', '.join(parts)}."


def _changes(action: RunAction, names: Names) -> list[tuple[str, Any, Any]]:
    keys = [*action.before, *(key for key in action.after if key not in action.before)]
    return [
        (key.replace("_", " "), _named(action.before.get(key), names), _named(action.after.get(key), names))
        for key in keys
        if action.before.get(key) != action.after.get(key)
    ]


def _named(value: Any, names: Names) -> Any:
    """A reference by its name, everything else as it is."""
    somebody = names.refer(value) if isinstance(value, dict) else None
    return somebody.name if somebody else value


def _chain(run: Run, wakeups: list[Wakeup], names: Names) -> list[Link]:
    """From the beginning of the chain to this run: who woke whom, in which run. One query."""
    if run.chain is None or not wakeups:
        return []
    delivered = Wakeup.objects.filter(company=run.company, chain=run.chain, run__isnull=False).order_by("pk")
    by_run: dict[int, Wakeup] = {}
    for row in delivered.defer("note"):
        if row.run_id is not None:
            by_run.setdefault(row.run_id, row)
    links: list[Link] = []
    step: Wakeup | None = by_run.get(run.pk)
    while step is not None and len(links) < len(by_run):
        by = names.somebody(agent=step.by_agent_id, member=step.member_id)
        links.append(Link(step, by, names.agents.get(step.agent_id), step.run_id))
        step = by_run.get(step.cause_run_id) if step.cause_run_id is not None else None
    return links[::-1]
