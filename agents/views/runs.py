"""Runs: the list, and what is done to one. Its page is in `run_page`."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agents.models import ActionOutcome, Run, RunAction, RunState
from agents.services.dry_runs import ask_for_dry_run
from agents.services.runs import cancel_run, retry_run
from agents.views.lookup import as_number, find_run
from issues.names import Names
from issues.pages import Visit, changed, company_page, is_partial, show

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
    wakeup = retry_run(actor=visit.person, run=found)
    to = reverse("issue", args=[visit.company.slug, wakeup.issue.identifier])
    return changed(request, f"{found.agent.name} is woken again.", to=to)


@require_POST
@company_page
def dry_run(request: HttpRequest, visit: Visit, run: int) -> HttpResponse:
    """Ask the run's prompt once more, and apply nothing."""
    ask_for_dry_run(actor=visit.person, run=find_run(visit, run))
    to = reverse("run", args=[visit.company.slug, run]) + "#dry-runs"
    return changed(request, "The model is asked once more. What it would do will stand here.", to=to)


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
