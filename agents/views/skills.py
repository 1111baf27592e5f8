"""Skills: know-how that agents can apply, who has it, and where it was used lately."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents.models import Agent, Skill
from agents.services.skills import create_skill, edit_skill
from issues.markdown import Place
from issues.models import Activity
from issues.names import Names, Somebody, Wanted
from issues.numbers import as_id
from issues.pages import Visit, changed, company_page, show
from issues.refusals import NotFound, Refusal

USES_SHOWN = 20


@require_safe
@company_page
def skills(request: HttpRequest, visit: Visit) -> HttpResponse:
    names = Names(visit.company)
    used = {
        row["data__skill"]: row
        for row in _uses(visit).values("data__skill").annotate(times=Count("pk"), last=Max("created_at")).order_by()
    }
    rows = Skill.objects.filter(company=visit.company).defer("body").prefetch_related("agents").order_by("name")
    context = {
        "at": _list_address(visit),
        "rows": [{"skill": row, "agents": _named(row, names), "used": used.get(row.pk)} for row in rows],
    }
    return show(request, visit, "agents/skills.html", context)


@require_safe
@company_page
def skill_page(request: HttpRequest, visit: Visit, skill: int) -> HttpResponse:
    found = _find(visit, skill)
    uses = list(_uses(visit).filter(data__skill=found.pk).order_by("-pk")[:USES_SHOWN])
    names = Names(visit.company, Wanted(issues=frozenset(use.issue_id for use in uses if use.issue_id)))
    context = {
        "at": _list_address(visit),
        "skill": found,
        "agents": _named(found, names),
        "uses": [
            {"line": use, "agent": names.agents.get(use.agent_id or 0), "issue": names.issues.get(use.issue_id or 0)}
            for use in uses
        ],
        "place": Place(visit.company.key, names.handles),
    }
    return show(request, visit, "agents/skill.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def new_skill(request: HttpRequest, visit: Visit) -> HttpResponse:
    if request.method != "POST":
        return _form_page(request, visit, {}, [])
    try:
        skill = create_skill(actor=visit.person, company=visit.company, **_fields(visit, request.POST))
    except Refusal as refusal:
        return _form_page(request, visit, request.POST, request.POST.getlist("agents"), refusal=refusal)
    return changed(request, f"The skill “{skill.name}” is added.", to=_address(visit, skill), moves_on=True)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def edit(request: HttpRequest, visit: Visit, skill: int) -> HttpResponse:
    found = _find(visit, skill)
    if request.method != "POST":
        values = {"name": found.name, "description": found.description, "body": found.body}
        chosen = [str(agent.pk) for agent in found.agents.all()]
        return _form_page(request, visit, values, chosen, skill=found)
    try:
        found = edit_skill(actor=visit.person, skill=found, **_fields(visit, request.POST))
    except Refusal as refusal:
        chosen = request.POST.getlist("agents")
        return _form_page(request, visit, request.POST, chosen, skill=_find(visit, skill), refusal=refusal)
    return changed(request, f"The skill “{found.name}” is changed.", to=_address(visit, found), moves_on=True)


@require_POST
@company_page
def switch(request: HttpRequest, visit: Visit, skill: int) -> HttpResponse:
    """On or off; one that is off is shown to no agent."""
    enabled = request.POST.get("enabled") == "1"
    found = edit_skill(actor=visit.person, skill=_find(visit, skill), enabled=enabled)
    said = f"The skill “{found.name}” is {'on' if enabled else 'off: no agent is shown it'}."
    return changed(request, said, to=_address(visit, found), moves_on=True)


def _uses(visit: Visit) -> Any:
    return Activity.objects.filter(company=visit.company, kind="skill.used")


def _named(skill: Skill, names: Names) -> list[Somebody]:
    """The agents that the skill is for; none means all."""
    return [names.agents[agent.pk] for agent in skill.agents.all() if agent.pk in names.agents]


def _find(visit: Visit, pk: int) -> Skill:
    skills = Skill.objects.filter(company=visit.company).select_related("company").prefetch_related("agents")
    skill = skills.filter(pk=pk).first()
    if skill is None:
        raise NotFound("There is no such skill.")
    return skill


def _fields(visit: Visit, form: Any) -> dict[str, Any]:
    ids = {as_id(value) for value in form.getlist("agents")}
    return {
        "name": form.get("name", ""),
        "description": form.get("description", ""),
        "body": form.get("body", ""),
        "agents": list(Agent.objects.filter(company=visit.company, pk__in=ids)),
    }


def _list_address(visit: Visit) -> str:
    return reverse("skills", args=[visit.company.slug])


def _address(visit: Visit, skill: Skill) -> str:
    return reverse("skill", args=[visit.company.slug, skill.pk])


def _form_page(
    request: HttpRequest,
    visit: Visit,
    values: Any,
    chosen: list[str],
    *,
    refusal: Refusal | None = None,
    skill: Skill | None = None,
) -> HttpResponse:
    context = {
        "at": _list_address(visit),
        "values": values,
        "chosen": chosen,
        "agents": Names(visit.company).present_agents,
        "refusal": refusal,
        "skill": skill,
    }
    response = show(request, visit, "agents/skill_form.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
