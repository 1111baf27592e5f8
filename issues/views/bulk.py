"""Changing many issues at once: what is selected, what it would do, and doing it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_http_methods, require_POST

from issues.models import Issue, Label, Priority, Status
from issues.names import Names
from issues.pages import Visit, changed, company_page, next_page, seal_trace, show
from issues.refusals import Refusal
from issues.services.bulk import MOST_ISSUES, Change, Outcome, change_issues, preview_changes
from issues.services.issues import UNCHANGED
from issues.traces import Tracing, traced
from issues.views.lookup import find_assignee, find_labels, read_priority, read_status

_LABELLING = ("add", "remove")


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def bulk(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The form for what is selected. Sent with `preview` it comes back with what it would do; else it is done."""
    if request.method != "POST":
        return _page(request, visit, _issues(visit, request.GET))
    issues = _issues(visit, request.POST)
    if request.POST.get("preview"):
        return _page(request, visit, issues, **_effects(visit, issues, request.POST))
    try:
        with traced() as trace:
            outcome = change_issues(
                actor=visit.person, company=visit.company, issues=issues, change=_read(visit, request.POST)
            )
    except Refusal as refusal:
        response = _page(request, visit, issues, refusal=refusal)
        response.status_code = refusal.http_status
        return response
    return _answer(request, visit, issues, outcome, trace)


@require_POST
@company_page
def preview(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The same look ahead as a part of the page."""
    issues = _issues(visit, request.POST)
    return show(request, visit, "issues/bulk_effects.html", {"issues": issues, **_effects(visit, issues, request.POST)})


def _answer(request: HttpRequest, visit: Visit, issues: list[Issue], outcome: Outcome, trace: Tracing) -> HttpResponse:
    """Back to where the selection was made; with the form again, holding what was refused, if something was."""
    count = len(outcome.changed)
    said = "One issue is changed." if count == 1 else f"{count} issues are changed."
    if not outcome.refused:
        return changed(request, said, to=next_page(request, visit, otherwise="board"), undo=trace)
    if outcome.changed:
        messages.success(request, said, extra_tags=seal_trace(trace.taken()) if trace.lines else "")
    refused = {one.identifier for one in outcome.refused}
    left = [issue for issue in issues if issue.identifier in refused]
    return _page(request, visit, left, outcome=outcome, done=True)


def _effects(visit: Visit, issues: list[Issue], query: QueryDict) -> dict[str, Any]:
    change = _read(visit, query)
    if change.is_empty or not issues:
        return {}
    seen = preview_changes(actor=visit.person, company=visit.company, issues=issues, change=change)
    names = Names(visit.company)
    return {"outcome": seen.outcome, "woken": [names.agents[pk] for pk in sorted(seen.woken)]}


def _read(visit: Visit, query: QueryDict) -> Change:
    """What the form says; an empty field leaves things as they are."""
    status, assignee, priority = (query.get(name, "") for name in ("status", "assignee", "priority"))
    return Change(
        status=read_status(status) if status else UNCHANGED,
        assignee=find_assignee(visit, "" if assignee == "none" else assignee) if assignee else UNCHANGED,
        priority=read_priority(priority) if priority else UNCHANGED,
        add=find_labels(visit, query.getlist("add")),
        remove=find_labels(visit, query.getlist("remove")),
    )


def _issues(visit: Visit, query: QueryDict) -> list[Issue]:
    """The selected issues, by number; what is none of the company's is passed over."""
    numbers = {word.rpartition("-")[2] for word in query.getlist("issue")[:MOST_ISSUES]}
    wanted = [int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 10]
    found = Issue.objects.filter(company=visit.company, number__in=wanted)
    return list(found.select_related("company").order_by("number"))


def _page(request: HttpRequest, visit: Visit, issues: list[Issue], **more: Any) -> HttpResponse:
    context = {
        "issues": issues,
        "values": request.POST,
        "chosen": {name: {row.pk for row in find_labels(visit, request.POST.getlist(name))} for name in _LABELLING},
        "names": Names(visit.company),
        "statuses": list(Status),
        "priorities": list(Priority),
        "labels": Label.objects.filter(company=visit.company).order_by("name"),
        "next_page": next_page(request, visit, otherwise="board"),
        **more,
    }
    return show(request, visit, "issues/bulk.html", context)
