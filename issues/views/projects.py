"""Projects: bodies of work with a description and rules that agents are told."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from issues.markdown import Place
from issues.models import Issue, Project
from issues.models.issue import CLOSED
from issues.names import Names
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import NotFound, Refusal
from issues.services.projects import archive_project, create_project, edit_project, restore_project
from issues.views.cards import Column, make_cards
from issues.views.grouping import Group
from issues.views.selection import recently_closed_or_open, with_card_facts

ISSUES = 100
"""Of a project on its own page; the list of issues, filtered by it, has the rest."""

_FIELDS = ("name", "description", "rules")


@require_safe
@company_page
def projects(request: HttpRequest, visit: Visit) -> HttpResponse:
    rows = list(_with_progress(visit).order_by("name"))
    context = {
        "at": _list_address(visit),
        "current": [row for row in rows if row.archived_at is None],
        "archived": [row for row in rows if row.archived_at is not None],
    }
    return show(request, visit, "issues/projects.html", context)


@require_safe
@company_page
def project_page(request: HttpRequest, visit: Visit, project: int) -> HttpResponse:
    """What it is about, and its issues in the order of work."""
    found = _find(visit, project)
    names = Names(visit.company)
    chosen = Issue.objects.filter(project=found).filter(recently_closed_or_open())
    issues = with_card_facts(chosen).in_work_order()[:ISSUES]
    cards = make_cards(visit.company, list(issues), names)
    context = {
        "at": _list_address(visit),
        "project": found,
        "columns": [Column(Group("none", "", "", (), len(cards)), cards=cards)] if cards else [],
        "place": Place(visit.company.key, names.handles),
    }
    template = "issues/list_rows.html" if is_partial(request) else "issues/project.html"
    return show(request, visit, template, context)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def new_project(request: HttpRequest, visit: Visit) -> HttpResponse:
    if request.method != "POST":
        return _form_page(request, visit, {})
    try:
        project = create_project(actor=visit.person, company=visit.company, **_fields(request.POST))
    except Refusal as refusal:
        return _form_page(request, visit, request.POST, refusal=refusal)
    return changed(request, f"The project “{project.name}” is made.", to=_address(visit, project), moves_on=True)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def edit(request: HttpRequest, visit: Visit, project: int) -> HttpResponse:
    found = _find(visit, project)
    if request.method != "POST":
        values = {name: getattr(found, name) for name in _FIELDS}
        return _form_page(request, visit, values, project=found)
    try:
        found = edit_project(actor=visit.person, project=found, **_fields(request.POST))
    except Refusal as refusal:
        return _form_page(request, visit, request.POST, project=_find(visit, project), refusal=refusal)
    return changed(request, f"The project “{found.name}” is changed.", to=_address(visit, found), moves_on=True)


@require_POST
@company_page
def archive(request: HttpRequest, visit: Visit, project: int) -> HttpResponse:
    found = archive_project(actor=visit.person, project=_find(visit, project))
    said = f"The project “{found.name}” is archived; its issues keep it."
    return changed(request, said, to=_list_address(visit), moves_on=True)


@require_POST
@company_page
def restore(request: HttpRequest, visit: Visit, project: int) -> HttpResponse:
    found = restore_project(actor=visit.person, project=_find(visit, project))
    return changed(request, f"The project “{found.name}” is back.", to=_address(visit, found), moves_on=True)


def _with_progress(visit: Visit) -> QuerySet[Project]:
    """Projects with how many issues they have, and how many of those are closed."""
    return Project.objects.filter(company=visit.company).annotate(
        issues_all=Count("issues"), issues_closed=Count("issues", filter=Q(issues__status__in=CLOSED))
    )


def _find(visit: Visit, pk: int) -> Project:
    project = _with_progress(visit).select_related("company").filter(pk=pk).first()
    if project is None:
        raise NotFound("There is no such project.")
    return project


def _fields(form: Any) -> dict[str, str]:
    return {name: form.get(name, "") for name in _FIELDS}


def _list_address(visit: Visit) -> str:
    return reverse("projects", args=[visit.company.slug])


def _address(visit: Visit, project: Project) -> str:
    return reverse("project", args=[visit.company.slug, project.pk])


def _form_page(
    request: HttpRequest, visit: Visit, values: Any, *, refusal: Refusal | None = None, **more: Any
) -> HttpResponse:
    context = {"at": _list_address(visit), "values": values, "refusal": refusal, **more}
    response = show(request, visit, "issues/project_form.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
