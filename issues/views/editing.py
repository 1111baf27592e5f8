"""Editing an issue's own fields, on a page or in place. What somebody else changed meanwhile is shown beside what was
typed, and the person chooses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from issues.diffs import DiffLine, diff_lines
from issues.forms import read_date
from issues.models import Issue, Project
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import Clash, Invalid, Refusal
from issues.services.issues import edit_issue
from issues.views.calling import told_of_nobody
from issues.views.lookup import find_issue, find_project

FIELDS = {"title": "title", "description": "description", "project": "project", "due_date": "due date"}
"""The form's fields, and what people call them."""


@dataclass(frozen=True, slots=True)
class Clashing:
    """A field that somebody else changed, too: what stands there now, and how the typed text differs from that."""

    field: str
    label: str
    theirs: str
    changes: list[DiffLine]


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def edit(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Title, description, project and due date. `seen_title` and the like are what the form began with; `take` is a
    field to be filled with what stands there now."""
    issue = find_issue(visit, identifier, among=Issue.objects.select_related("company", "project"))
    now = _values(issue)
    if request.method != "POST":
        return _form(request, visit, issue, values=now, seen=now)
    values = {field: request.POST.get(field, "").replace("\r\n", "\n") for field in FIELDS}
    seen = {field: request.POST[f"seen_{field}"].replace("\r\n", "\n") for field in FIELDS if _is_seen(request, field)}
    told = set(request.POST.getlist("told")) & FIELDS.keys()
    if (taken := request.POST.get("take", "")) in FIELDS:
        return _form(request, visit, issue, values=values | {taken: now[taken]}, seen=seen, told=told)
    try:
        edit_issue(
            actor=visit.person,
            issue=issue,
            seen=_read(visit, seen),
            without=request.POST.getlist("without"),
            **_read(visit, values),
        )
    except Clash as clash:
        issue.refresh_from_db()
        told |= set(clash.fields)
        known = seen | {field: now for field, now in _values(issue).items() if field in clash.fields}
        return _form(request, visit, issue, values=values, seen=known, told=told, refusal=clash)
    except Refusal as refusal:
        errors = {refusal.field: str(refusal)} if isinstance(refusal, Invalid) and refusal.field in FIELDS else {}
        return _form(request, visit, issue, values=values, seen=seen, told=told, refusal=refusal, errors=errors)
    to = reverse("issue", args=[visit.company.slug, issue.identifier])
    said = told_of_nobody(f"{issue.identifier} is changed.", visit.company, values["description"])
    return changed(request, said, to=to)


def _is_seen(request: HttpRequest, field: str) -> bool:
    return f"seen_{field}" in request.POST


def _values(issue: Issue) -> dict[str, str]:
    return {
        "title": issue.title,
        "description": issue.description,
        "project": str(issue.project_id or ""),
        "due_date": issue.due_date.isoformat() if issue.due_date else "",
    }


def _read(visit: Visit, words: Mapping[str, str]) -> dict[str, Any]:
    """What the form says, as the service takes it."""
    read: dict[str, Any] = dict(words)
    if "project" in read:
        read["project"] = find_project(visit, read["project"])
    if "due_date" in read:
        read["due_date"] = read_date(read["due_date"])
    return read


def _form(
    request: HttpRequest,
    visit: Visit,
    issue: Issue,
    *,
    values: Mapping[str, str],
    seen: Mapping[str, str],
    told: Collection[str] = (),
    refusal: Refusal | None = None,
    errors: Mapping[str, str] | None = None,
) -> HttpResponse:
    in_place = is_partial(request)
    context = {
        "issue": issue,
        "values": values,
        "seen": [(f"seen_{field}", value) for field, value in seen.items()],
        "clashes": _clashes(issue, values, told),
        "refusal": None if errors else refusal,
        "errors": errors or {},
        "projects": Project.objects.filter(
            Q(archived_at=None) | Q(pk=issue.project_id), company=visit.company
        ).order_by("name"),
        "without": request.POST.getlist("without"),
        "in_place": in_place,
        "is_sent": request.method == "POST",
    }
    response = show(request, visit, "issues/edit_form.html" if in_place else "issues/edit.html", context)
    if refusal is not None and not in_place:  # in place the form is to be swapped in, which errors are not
        response.status_code = refusal.http_status
    return response


def _clashes(issue: Issue, values: Mapping[str, str], told: Collection[str]) -> list[Clashing]:
    """Of the fields of which the person was told, those that still differ."""
    now = _values(issue)
    return [
        Clashing(
            field,
            label,
            theirs=_shown(issue, field),
            changes=diff_lines(now[field], values[field]) if field == "description" else [],
        )
        for field, label in FIELDS.items()
        if field in told and values[field] != now[field]
    ]


def _shown(issue: Issue, field: str) -> str:
    """What stands in the field now, in words."""
    if field == "project":
        return issue.project.name if issue.project else "none"
    return _values(issue)[field] or "nothing"
