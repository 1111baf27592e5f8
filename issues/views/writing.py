"""Opening an issue, and editing one as a whole."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from issues.forms import IssueForm
from issues.models import Issue, Label, Priority, Project, Status
from issues.names import Names
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, Refusal
from issues.services.issues import create_issue, edit_issue
from issues.views.lookup import (
    find_assignee,
    find_issue,
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
        issue = _create(visit, form.cleaned_data)
    except Refusal as refusal:
        field = refusal.field if isinstance(refusal, Invalid) else ""
        errors = {field: str(refusal)} if field in form.fields else {}
        return _form_page(
            request, visit, request.POST, errors=errors, refusal=None if errors else refusal, status=refusal.http_status
        )
    to = reverse("issue", args=[visit.company.slug, issue.identifier])
    return changed(request, f"{issue.identifier} is open.", to=to, moves_on=True)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def edit(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Title, description, project and due date. The version that was shown guards what somebody else wrote since."""
    issue = find_issue(visit, identifier)
    if request.method != "POST":
        return _edit_page(request, visit, issue, _values(issue))
    form = _form(visit, request.POST)
    if not form.is_valid():
        return _edit_page(request, visit, issue, request.POST, errors=_first_errors(form), status=422)
    data = form.cleaned_data
    try:
        edit_issue(
            actor=visit.person,
            issue=issue,
            title=data["title"],
            description=data["description"],
            due_date=data["due_date"],
            project=find_project(visit, data["project"]),
            if_version=data["version"],
        )
    except Refusal as refusal:
        issue.refresh_from_db()
        return _edit_page(request, visit, issue, request.POST, refusal=refusal, status=refusal.http_status)
    to = reverse("issue", args=[visit.company.slug, identifier])
    return changed(request, f"{identifier} is changed.", to=to, moves_on=True)


def _create(visit: Visit, data: dict[str, Any]) -> Issue:
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
    )


def _form(visit: Visit, data: Any) -> IssueForm:
    labels = Label.objects.filter(company=visit.company)
    return IssueForm(data, labels=[(str(label.pk), label.name) for label in labels])


def _first_errors(form: IssueForm) -> dict[str, str]:
    return {field: str(errors[0]) for field, errors in form.errors.items() if errors}


def _values(issue: Issue) -> dict[str, Any]:
    return {
        "title": issue.title,
        "description": issue.description,
        "due_date": issue.due_date.isoformat() if issue.due_date else "",
        "project": str(issue.project_id or ""),
        "version": issue.version,
    }


def _form_page(request: HttpRequest, visit: Visit, values: Any, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "values": values,
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


def _edit_page(
    request: HttpRequest, visit: Visit, issue: Issue, values: Any, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {"issue": issue, "values": values, "projects": _projects(visit), **more}
    response = show(request, visit, "issues/edit.html", context)
    response.status_code = status
    return response


def _projects(visit: Visit) -> Any:
    return Project.objects.filter(company=visit.company, archived_at=None).order_by("name")
