"""One change of an issue each: a form of the page, a service, an answer."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.formats import date_format
from django.views.decorators.http import require_POST

from agents.models import Agent
from agents.services.runs import cancel_run
from agents.services.wakeups import run_heartbeat
from issues.forms import read_date
from issues.models import Issue, Label, Priority, Status
from issues.numbers import as_id
from issues.pages import Visit, changed, company_page
from issues.refusals import Conflict, Invalid
from issues.services.blockers import add_blockers, remove_blockers
from issues.services.clashes import UNSEEN
from issues.services.issues import assign_issue, edit_issue, set_parent, set_priority, set_status
from issues.services.projects import add_labels, remove_labels
from issues.traces import Tracing, traced
from issues.views.lookup import find_assignee, find_issue, find_issues, named_issue, read_priority, read_status


@require_POST
@company_page
def status(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    found, wanted = find_issue(visit, identifier), read_status(request.POST.get("status", ""))
    seen = read_status(request.POST["seen"]) if "seen" in request.POST else UNSEEN
    with traced() as trace:
        issue = set_status(actor=visit.person, issue=found, status=wanted, seen=seen)
    said = f"{issue.identifier} is {Status(issue.status).label.lower()} now."
    return _changed(request, visit, issue, said, undo=trace)


@require_POST
@company_page
def assign(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    assignee = find_assignee(visit, request.POST.get("assignee", ""))
    seen = find_assignee(visit, request.POST["seen"]) if "seen" in request.POST else UNSEEN
    found = find_issue(visit, identifier)
    with traced() as trace:
        issue = assign_issue(actor=visit.person, issue=found, assignee=assignee, seen=seen)
    said = f"{issue.identifier} is assigned to {assignee.name}." if assignee else f"{issue.identifier} is unassigned."
    return _changed(request, visit, issue, said, undo=trace)


@require_POST
@company_page
def priority(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    found, wanted = find_issue(visit, identifier), read_priority(request.POST.get("priority", ""))
    seen = read_priority(request.POST["seen"]) if "seen" in request.POST else UNSEEN
    with traced() as trace:
        issue = set_priority(actor=visit.person, issue=found, priority=wanted, seen=seen)
    said = f"The priority is {Priority(issue.priority).label.lower()} now."
    return _changed(request, visit, issue, said, undo=trace)


@require_POST
@company_page
def label(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Put a label on, or take it off: what the button says depends on what the page showed."""
    issue = find_issue(visit, identifier)
    found = Label.objects.filter(company=visit.company, pk=as_id(request.POST.get("label", ""))).first()
    if found is None:
        raise Invalid("There is no such label.", field="label")
    if request.POST.get("off"):
        issue = remove_labels(actor=visit.person, issue=issue, labels=[found])
        return _changed(request, visit, issue, f"“{found.name}” is off.")
    issue = add_labels(actor=visit.person, issue=issue, labels=[found])
    return _changed(request, visit, issue, f"“{found.name}” is on.")


@require_POST
@company_page
def blockers(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    issue = find_issue(visit, identifier)
    named = find_issues(visit, request.POST.get("issues", ""))
    if not named:
        raise Invalid("Say which issue it waits for, by its number.", field="issues")
    if request.POST.get("off"):
        issue = remove_blockers(actor=visit.person, issue=issue, blockers=named)
        return _changed(request, visit, issue, f"{issue.identifier} waits for it no longer.")
    issue = add_blockers(actor=visit.person, issue=issue, blockers=named)
    return _changed(
        request, visit, issue, f"{issue.identifier} waits for {', '.join(one.identifier for one in named)}."
    )


@require_POST
@company_page
def parent(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    word = request.POST.get("parent", "").strip()
    above = named_issue(visit, word) if word else None
    seen = UNSEEN
    if "seen" in request.POST:
        seen = named_issue(visit, request.POST["seen"]) if request.POST["seen"] else None
    issue = set_parent(actor=visit.person, issue=find_issue(visit, identifier), parent=above, seen=seen)
    said = f"{issue.identifier} stands under {above.identifier}." if above else f"{issue.identifier} stands by itself."
    return _changed(request, visit, issue, said)


@require_POST
@company_page
def due_date(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Set the day it is due, or with an empty one that it has none."""
    day = read_date(request.POST.get("due_date", ""))
    seen = {"due_date": read_date(request.POST["seen"])} if "seen" in request.POST else {}
    issue = edit_issue(actor=visit.person, issue=find_issue(visit, identifier), due_date=day, seen=seen)
    when = f"is due on {date_format(day, 'j F Y')}" if day else "has no due date"
    return _changed(request, visit, issue, f"{issue.identifier} {when}.")


@require_POST
@company_page
def heartbeat(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Run heartbeat: the named agent, or else the assigned one, looks at the issue now."""
    issue = find_issue(visit, identifier)
    chosen = find_assignee(visit, request.POST.get("agent", "")) or issue.assignee_agent
    if not isinstance(chosen, Agent):
        raise Conflict("The issue is assigned to no agent.", "Assign one, or name one with @ in a comment.")
    run_heartbeat(actor=visit.person, agent=chosen, issue=issue, note=request.POST.get("note", ""))
    return _changed(request, visit, issue, f"{chosen.name} is woken.")


@require_POST
@company_page
def stop_run(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """End the run that holds the issue."""
    issue = find_issue(visit, identifier)
    run = issue.runs.live().select_related("company", "issue__company").first()
    if run is None:
        raise Conflict("No run holds this issue any more.")
    cancel_run(actor=visit.person, run=run)
    return _changed(request, visit, issue, f"Run {run.pk} is cancelled.")


def _changed(
    request: HttpRequest, visit: Visit, issue: Issue, said: str, *, undo: Tracing | None = None
) -> HttpResponse:
    return changed(request, said, to=reverse("issue", args=[visit.company.slug, issue.identifier]), undo=undo)
