"""Routines: work that comes round by the clock, when it comes next, and what became of each time."""

from __future__ import annotations

import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents.models import Agent, Routine
from agents.services.routines import create_routine, edit_routine, fire_routine_now, next_fire, switch_routine
from issues.markdown import Place
from issues.models import Priority, Project
from issues.names import Names
from issues.numbers import as_id
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, NotFound, Refusal
from issues.zones import zone_names

FIRES_SHOWN = 50
NEXT_SHOWN = 3

_TEXTS = ("name", "cron", "time_zone", "title", "body")
_EXAMPLES = (
    ("0 9 * * 1-5", "9:00 on working days"),
    ("0 9 * * 1", "9:00 on Mondays"),
    ("30 17 1 * *", "17:30 on the first of the month"),
    ("*/30 8-18 * * *", "every half hour from 8:00 to 18:30"),
)


@require_safe
@company_page
def routines(request: HttpRequest, visit: Visit) -> HttpResponse:
    names = Names(visit.company)
    rows = Routine.objects.filter(company=visit.company).order_by("name", "pk")
    context = {
        "at": _list_address(visit),
        "rows": [
            {"routine": row, "agent": names.agents.get(row.assignee_id), "next": _next_fires(row)} for row in rows
        ],
    }
    return show(request, visit, "agents/routines.html", context)


@require_safe
@company_page
def routine_page(request: HttpRequest, visit: Visit, routine: int) -> HttpResponse:
    found = _find(visit, routine)
    names = Names(visit.company)
    context = {
        "at": _list_address(visit),
        "routine": found,
        "agent": names.agents.get(found.assignee_id),
        "responsible": names.members.get(found.responsible_id),
        "priority": Priority(found.priority),
        "next": _next_fires(found),
        "fires": found.fires.select_related("issue").order_by("-due_at", "-pk")[:FIRES_SHOWN],
        "place": Place(visit.company.key, names.handles),
    }
    return show(request, visit, "agents/routine.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def new_routine(request: HttpRequest, visit: Visit) -> HttpResponse:
    if request.method != "POST":
        return _form_page(request, visit, {"cron": _EXAMPLES[0][0], "time_zone": visit.company.time_zone})
    try:
        routine = create_routine(actor=visit.person, company=visit.company, **_fields(visit, request.POST))
    except Refusal as refusal:
        return _form_page(request, visit, request.POST, refusal=refusal)
    return changed(request, f"The routine “{routine.name}” is made.", to=_address(visit, routine), moves_on=True)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def edit(request: HttpRequest, visit: Visit, routine: int) -> HttpResponse:
    found = _find(visit, routine)
    if request.method != "POST":
        values = {name: getattr(found, name) for name in _TEXTS} | {
            "priority": Priority(found.priority).slug,
            "project": str(found.project_id or ""),
            "assignee": str(found.assignee_id),
        }
        return _form_page(request, visit, values, routine=found)
    try:
        found = edit_routine(actor=visit.person, routine=found, **_fields(visit, request.POST))
    except Refusal as refusal:
        return _form_page(request, visit, request.POST, routine=found, refusal=refusal)
    return changed(request, f"The routine “{found.name}” is changed.", to=_address(visit, found), moves_on=True)


@require_POST
@company_page
def switch(request: HttpRequest, visit: Visit, routine: int) -> HttpResponse:
    enabled = request.POST.get("enabled") == "1"
    found = switch_routine(actor=visit.person, routine=_find(visit, routine), enabled=enabled)
    said = f"The routine “{found.name}” is {'on' if enabled else 'off: it opens nothing'}."
    return changed(request, said, to=_address(visit, found), moves_on=True)


@require_POST
@company_page
def fire(request: HttpRequest, visit: Visit, routine: int) -> HttpResponse:
    """Open its issue now, out of turn."""
    found = _find(visit, routine)
    fired = fire_routine_now(actor=visit.person, routine=found)
    assert fired.issue is not None  # noqa: S101 - the service opens one or refuses
    said = f"{visit.company.key}-{fired.issue.number} is open."
    return changed(request, said, to=_address(visit, found), moves_on=True)


def _next_fires(routine: Routine) -> list[datetime.datetime]:
    """When it fires next; nothing while it is off."""
    if not routine.enabled or routine.next_fire_at is None:
        return []
    fires = [routine.next_fire_at]
    while len(fires) < NEXT_SHOWN:
        fires.append(next_fire(routine, after=max(fires[-1], timezone.now())))
    return fires


def _find(visit: Visit, pk: int) -> Routine:
    routines = Routine.objects.filter(company=visit.company).select_related("company", "project")
    routine = routines.filter(pk=pk).first()
    if routine is None:
        raise NotFound("There is no such routine.")
    return routine


def _fields(visit: Visit, form: Any) -> dict[str, Any]:
    """What the form says; what it names of other things is looked up in this company alone."""
    fields: dict[str, Any] = {name: form.get(name, "") for name in _TEXTS}
    priority = form.get("priority", "") or "none"
    if priority.upper() not in Priority.names:
        raise Invalid(f"“{priority}” is not a priority.", field="priority")
    fields["priority"] = Priority.from_slug(priority)
    project = form.get("project", "")
    fields["project"] = _named(Project.objects.filter(company=visit.company), project, "project") if project else None
    fields["assignee"] = _named(Agent.objects.filter(company=visit.company), form.get("assignee", ""), "agent")
    return fields


def _named(among: Any, value: str, what: str) -> Any:
    found = among.filter(pk=as_id(value)).first()
    if found is None:
        raise Invalid(f"Choose the {what}.", field=what)
    return found


def _list_address(visit: Visit) -> str:
    return reverse("routines", args=[visit.company.slug])


def _address(visit: Visit, routine: Routine) -> str:
    return reverse("routine", args=[visit.company.slug, routine.pk])


def _form_page(
    request: HttpRequest,
    visit: Visit,
    values: Any,
    *,
    refusal: Refusal | None = None,
    routine: Routine | None = None,
) -> HttpResponse:
    context = {
        "at": _list_address(visit),
        "values": values,
        "agents": Names(visit.company).present_agents,
        "projects": Project.objects.filter(company=visit.company, archived_at=None).order_by("name"),
        "priorities": list(Priority),
        "zones": zone_names(),
        "examples": _EXAMPLES,
        "refusal": refusal,
        "routine": routine,
    }
    response = show(request, visit, "agents/routine_form.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
