"""Opening an issue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from issues.forms import IssueForm
from issues.models import Issue, Label, Priority, Project, Status
from issues.names import Names
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, Refusal
from issues.services.issues import create_issue
from issues.views.calling import told_of_nobody
from issues.views.lookup import (
    find_assignee,
    find_issues,
    find_labels,
    find_project,
    named_issue,
    read_priority,
    read_status,
)

_STARTING = ("title", "status", "priority", "parent", "assignee", "project")
"""What an address can fill in."""


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def new_issue(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The form, kept as it was sent when something in it cannot be used."""
    if request.method != "POST":
        start = {name: request.GET.get(name, "") for name in _STARTING}
        return _form_page(request, visit, start)
    form = _form(visit, request.POST)
    if not form.is_valid():
        return _form_page(request, visit, request.POST, errors=_first_errors(form), status=422)
    try:
        issue = _create(visit, form.cleaned_data, request.POST.getlist("without"))
    except Refusal as refusal:
        field = refusal.field if isinstance(refusal, Invalid) else ""
        errors = {field: str(refusal)} if field in form.fields else {}
        return _form_page(
            request, visit, request.POST, errors=errors, refusal=None if errors else refusal, status=refusal.http_status
        )
    to = reverse("issue", args=[visit.company.slug, issue.identifier])
    said = told_of_nobody(f"{issue.identifier} is open.", visit.company, issue.description)
    return changed(request, said, to=to, moves_on=True)


def _create(visit: Visit, data: dict[str, Any], without: Sequence[str]) -> Issue:
    return create_issue(
        actor=visit.person,
        company=visit.company,
        title=data["title"],
        description=data["description"],
        status=read_status(data["status"] or Status.TODO),
        priority=read_priority(data["priority"] or "none"),
        assignee=find_assignee(visit, data["assignee"]),
        project=find_project(visit, data["project"]),
        labels=find_labels(visit, data["labels"]),
        parent=named_issue(visit, data["parent"]) if data["parent"] else None,
        blockers=find_issues(visit, data["blockers"]),
        due_date=data["due_date"],
        without=without,
    )


def _form(visit: Visit, data: Any) -> IssueForm:
    labels = Label.objects.filter(company=visit.company)
    return IssueForm(data, labels=[(str(label.pk), label.name) for label in labels])


def _first_errors(form: IssueForm) -> dict[str, str]:
    return {field: str(errors[0]) for field, errors in form.errors.items() if errors}


def _form_page(request: HttpRequest, visit: Visit, values: Any, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "values": values,
        "without": request.POST.getlist("without"),
        "chosen_labels": values.getlist("labels") if hasattr(values, "getlist") else [],
        "names": Names(visit.company),
        "statuses": list(Status),
        "priorities": list(Priority),
        "labels": Label.objects.filter(company=visit.company).order_by("name"),
        "projects": _projects(visit),
        **more,
    }
    response = show(request, visit, "issues/new.html", context)
    response.status_code = status
    return response


def _projects(visit: Visit) -> Any:
    return Project.objects.filter(company=visit.company, archived_at=None).order_by("name")
