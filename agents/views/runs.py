"""Runs: the list, and what is done to one. Its page is in `run_page`."""

from __future__ import annotations

from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agents.models import ActionOutcome
from agents.services.dry_runs import ask_for_dry_run
from agents.services.runs import cancel_run, retry_run
from agents.views.lookup import find_run
from agents.views.run_selection import RunSelection, offer_run_filters
from issues.names import Names
from issues.numbers import as_number
from issues.pages import Visit, changed, company_page, is_partial, show

PAGE = 50
_TEXTS = ("system_message", "user_message", "prompt_sections", "reply", "dropped")


@require_safe
@company_page
def runs(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Newest first; `before` is the id of the last run of the page before."""
    selection = RunSelection.read(request.GET)
    chosen = selection.apply(visit)
    before = as_number(request.GET.get("before", ""))
    page = chosen.filter(pk__lt=before) if before is not None else chosen
    rows = list(page.defer(*_TEXTS).select_related("issue").annotate(**_counts()).order_by("-pk")[: PAGE + 1])
    names = Names(visit.company)
    context = {
        "at": reverse("runs", args=[visit.company.slug]),
        "rows": [{"run": run, "agent": names.agents.get(run.agent_id)} for run in rows[:PAGE]],
        "next": rows[PAGE - 1].pk if len(rows) > PAGE else None,
        "totals": chosen.aggregate(
            runs=Count("pk"), tokens=Sum("input_tokens") + Sum("output_tokens"), cost=Sum("cost_microdollars")
        ),
        **offer_run_filters(selection, names),
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


def _counts() -> dict[str, Count]:
    return {
        outcome.value + "_actions": Count("actions", filter=Q(actions__outcome=outcome)) for outcome in ActionOutcome
    }
