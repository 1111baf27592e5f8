"""Agents: who there is, one of them, hiring and changing."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents.connecting import Connection, connection_of
from agents.models import PROGRAMS, Adapter, Agent, AgentStatus, ModelTier, PolicyPreset, Run, Tier
from agents.models.run import LIVE
from agents.programs.base import Asked, Unusable
from agents.programs.registry import BY_ADAPTER
from agents.services.agents import (
    HOW_TO_ALLOW,
    NO_COMMANDS,
    edit_agent,
    first_preset,
    hire_agent,
    pause_agent,
    resume_agent,
    set_manager,
    terminate_agent,
)
from agents.services.providers import provider_names
from agents.services.wakeups import run_agent
from agents.views.lookup import find_agent
from issues.effects import unit
from issues.markdown import Place
from issues.models import Issue
from issues.models.issue import CLOSED
from issues.names import Names, Somebody
from issues.numbers import as_id, as_number
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import Invalid, Refusal

RUNS_SHOWN = 15
ISSUES_SHOWN = 20

_LINES = ("name", "role", "title", "description", "provider", "model", "command", "policy", "tier")
_TEXTS = ("instructions", "knowledge")
_TIER = "tier:"
"""Before a tier among the providers to choose from: no provider's name has a colon."""
_OUTSIDE = "outside:"
"""Among them: the agent is asked by nobody here."""
_PROGRAM = "program:"
"""Before a kind of program among them."""


LARGE = 40
"""Agents from which on the reporting line begins folded below its first level."""


@dataclass(frozen=True, slots=True)
class Position:
    """An agent in the reporting line, with those below it."""

    agent: Agent
    somebody: Somebody | None
    reports: list[Position]


@require_safe
@company_page
def agents(request: HttpRequest, visit: Visit) -> HttpResponse:
    names = Names(visit.company)
    everybody = list(_with_figures(visit))
    text, state = request.GET.get("text", "").strip(), request.GET.get("state", "")
    state = state if state in STATES else ""
    found = [agent for agent in everybody if _is_called(agent, text) and STATES.get(state, _is_present)(agent)]
    context = {
        "at": reverse("agents", args=[visit.company.slug]),
        "found": [_row(agent, names) for agent in found],
        "present": sum(_is_present(agent) for agent in everybody),
        "gone": sum(not _is_present(agent) for agent in everybody),
        "text": text,
        "state": state,
        "is_filtered": bool(text or state),
        "line": _reporting_line(everybody, names),
        "is_large": len(everybody) > LARGE,
        "names": names,
    }
    template = "agents/agents_view.html" if is_partial(request) else "agents/agents.html"
    return show(request, visit, template, context)


@require_safe
@company_page
def agent_page(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    found = find_agent(visit, handle)
    names = Names(visit.company)
    open_issues = Issue.objects.filter(assignee_agent=found).exclude(status__in=CLOSED).in_work_order()
    context = {
        "at": reverse("agents", args=[visit.company.slug]),
        "agent": found,
        "somebody": names.agents.get(found.pk),
        "manager": names.agents.get(found.manager_id) if found.manager_id else None,
        "reports": [names.agents[row.pk] for row in found.reports.present().order_by("name") if row.pk in names.agents],
        "place": Place(visit.company.key, names.handles),
        "issues": open_issues[:ISSUES_SHOWN],
        "runs": found.runs.defer("system_message", "user_message", "reply")
        .select_related("issue")
        .order_by("-pk")[:RUNS_SHOWN],
        "totals": found.runs.aggregate(
            runs=Count("pk"), tokens=Sum("input_tokens") + Sum("output_tokens"), cost=Sum("cost_microdollars")
        ),
        "notes": found.notes.count(),
        "observations": found.observations.count(),
        "skills": found.company.skills.model.objects.for_agent(found.pk),
        "connection": _connection(request, found),
        "problem": _why_not_run(found),
    }
    template = "agents/agent_view.html" if is_partial(request) else "agents/agent.html"
    return show(request, visit, template, context)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def hire(request: HttpRequest, visit: Visit) -> HttpResponse:
    if request.method != "POST":
        return _form_page(request, visit, {"policy": first_preset(visit.company), "provider": _default_provider(visit)})
    try:
        agent = hire_agent(
            actor=visit.person,
            company=visit.company,
            handle=request.POST.get("handle", "").strip(),
            manager=_manager(visit, request.POST.get("manager", "")),
            **_fields(request.POST),
        )
    except Refusal as refusal:
        return _form_page(request, visit, request.POST, refusal=refusal, status=refusal.http_status)
    to = reverse("agent", args=[visit.company.slug, agent.handle])
    return changed(request, f"{agent.name} is hired.", to=to, moves_on=True)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def edit(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    agent = find_agent(visit, handle)
    if request.method != "POST":
        values = {name: getattr(agent, name) for name in (*_LINES, *_TEXTS)}
        values |= {"manager": str(agent.manager_id or ""), "schedule_minutes": agent.schedule_minutes or ""}
        values |= {"active_hours": agent.active_hours}
        values |= {"provider": f"{_TIER}{agent.model_tier}"} if agent.model_tier else {}
        values |= {"provider": _OUTSIDE} if agent.adapter == Adapter.EXTERNAL else {}
        values |= {"provider": f"{_PROGRAM}{agent.adapter}"} if agent.is_program else {}
        return _form_page(request, visit, values, agent=agent)
    try:
        with unit():
            edit_agent(actor=visit.person, agent=agent, **_fields(request.POST))
            set_manager(actor=visit.person, agent=agent, manager=_manager(visit, request.POST.get("manager", "")))
    except Refusal as refusal:
        return _form_page(request, visit, request.POST, agent=agent, refusal=refusal, status=refusal.http_status)
    to = reverse("agent", args=[visit.company.slug, agent.handle])
    return changed(request, f"{agent.name} is changed.", to=to, moves_on=True)


@require_POST
@company_page
def pause(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    agent = pause_agent(actor=visit.person, agent=find_agent(visit, handle))
    return _changed(request, visit, agent, f"{agent.name} is paused: it starts nothing until resumed.")


@require_POST
@company_page
def resume(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    agent = resume_agent(actor=visit.person, agent=find_agent(visit, handle))
    return _changed(request, visit, agent, f"{agent.name} works again.")


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def terminate(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    """Asked once more before, on a page of its own, since it ends what is pending."""
    agent = find_agent(visit, handle)
    if request.method != "POST":
        return show(request, visit, "agents/terminate.html", {"agent": agent})
    agent = terminate_agent(actor=visit.person, agent=agent)
    return _changed(request, visit, agent, f"{agent.name} is terminated.")


@require_POST
@company_page
def run(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    """Run agent: it looks at the issue that it would take by itself."""
    agent = find_agent(visit, handle)
    wakeup = run_agent(actor=visit.person, agent=agent)
    return _changed(request, visit, agent, f"{agent.name} is woken for {wakeup.issue.identifier}.")


def _with_figures(visit: Visit) -> Any:
    live = Run.objects.filter(agent=OuterRef("pk"), state__in=LIVE)
    return (
        Agent.objects.filter(company=visit.company)
        .annotate(
            is_running=Exists(live),
            open_issues=Count("assigned_issues", filter=~Q(assigned_issues__status__in=CLOSED)),
        )
        .order_by("name", "pk")
    )


def _is_present(agent: Agent) -> bool:
    return agent.is_present


STATES: dict[str, Callable[[Any], bool]] = {
    "running": lambda agent: agent.is_running,
    "paused": lambda agent: agent.status == AgentStatus.PAUSED,
    "terminated": lambda agent: agent.status == AgentStatus.TERMINATED,
}
"""What the list can be narrowed to."""


def _is_called(agent: Agent, text: str) -> bool:
    """Whether each word stands in what the agent is called or does."""
    called = " ".join((agent.name, f"@{agent.handle}", agent.role, agent.title, agent.description, agent.model))
    return all(word in called.casefold() for word in text.casefold().split())


def _row(agent: Agent, names: Names) -> dict[str, Any]:
    return {
        "agent": agent,
        "somebody": names.agents.get(agent.pk),
        "manager": names.agents.get(agent.manager_id) if agent.manager_id else None,
    }


def _reporting_line(everybody: list[Agent], names: Names) -> list[Position]:
    """Present agents as trees, each under its manager; the services see to it that there is no ring."""
    places = {
        agent.pk: Position(agent, names.agents.get(agent.pk), [])
        for agent in everybody
        if agent.status != AgentStatus.TERMINATED
    }
    top: list[Position] = []
    for place in places.values():
        above = places.get(place.agent.manager_id) if place.agent.manager_id else None
        (above.reports if above else top).append(place)
    return top


def _manager(visit: Visit, value: str) -> Agent | None:
    if not value:
        return None
    manager = Agent.objects.filter(company=visit.company, pk=as_id(value)).first()
    if manager is None:
        raise Invalid("There is no such agent.", field="manager")
    return manager


def _fields(form: Any) -> dict[str, Any]:
    """What the form says of an agent. Fields that it does not show stay as they are."""
    fields: dict[str, Any] = {name: form[name] for name in (*_LINES, *_TEXTS) if name in form}
    if "provider" in fields:
        fields |= _asked(fields["provider"])
    if "schedule_minutes" in form:
        value = form["schedule_minutes"].strip()
        fields["schedule_minutes"] = as_number(value)
        if value and fields["schedule_minutes"] is None:
            raise Invalid("The interval is a number of minutes.", field="schedule_minutes")
    if "active_hours" in form:
        fields["active_hours"] = form["active_hours"]
    return fields


def _connection(request: HttpRequest, agent: Agent) -> Connection | None:
    """Of an agent that works outside of Trimus."""
    if agent.adapter != Adapter.EXTERNAL:
        return None
    return connection_of(agent, request.build_absolute_uri("/"))


def _asked(choice: str) -> dict[str, Any]:
    """Whom a choice among the providers makes the agent ask."""
    if choice == _OUTSIDE:
        return {"adapter": Adapter.EXTERNAL, "model_tier": "", "provider": "", "model": ""}
    if choice.startswith(_PROGRAM):
        return {"adapter": choice.removeprefix(_PROGRAM), "model_tier": "", "provider": ""}
    is_tier = choice.startswith(_TIER)
    asked = {"model_tier": choice.removeprefix(_TIER), "provider": ""} if is_tier else {"model_tier": ""}
    return {"adapter": Adapter.LLM} | asked


def _programs(visit: Visit, agent: Agent | None) -> list[tuple[str, str]]:
    """The kinds of programs to choose from: all for an owner where the operator allows them, else what the agent is."""
    kinds = Adapter if settings.CLI_AGENTS and visit.is_owner else [Adapter(agent.adapter)] if agent is not None else []
    return [(f"{_PROGRAM}{kind.value}", str(kind.label)) for kind in kinds if kind in PROGRAMS]


def _missing_programs() -> list[str]:
    """What this host lacks of the programs that are run without a command of one's own, each with how to get it."""
    problems = []
    for spec in BY_ADAPTER.values():
        if spec.standard:
            try:
                spec.command_line("", Asked(), settings.CLI_PATH)
            except Unusable as problem:
                problems.append(f"{spec.label}: {problem}")
    return problems


def _why_not_run(agent: Agent) -> str:
    """What keeps an agent's program from being run on the host of this page; empty for nothing, and without one."""
    if not agent.is_program:
        return ""
    if not settings.CLI_AGENTS:
        return f"{NO_COMMANDS} {HOW_TO_ALLOW}"
    try:
        BY_ADAPTER[agent.adapter].command_line(agent.command, Asked(), settings.CLI_PATH)
    except Unusable as problem:
        return str(problem)
    return ""


def _default_provider(visit: Visit) -> str:
    """What a new agent asks: a script where nothing is set up that it could ask."""
    return "" if settings.LLM.any or visit.company.providers_stamp else "scripted"


def _form_page(request: HttpRequest, visit: Visit, values: Any, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "at": reverse("agents", args=[visit.company.slug]),
        "values": values,
        "managers": Names(visit.company).present_agents,
        "providers": provider_names(visit.company),
        "outside": _OUTSIDE,
        "programs": _programs(visit, more.get("agent")),
        "missing": _missing_programs() if visit.is_owner else [],
        "standard": [(spec.label, shlex.join(spec.standard)) for spec in BY_ADAPTER.values() if spec.standard],
        "model_tiers": [(f"{_TIER}{tier.value}", tier.label) for tier in ModelTier],
        "policies": list(PolicyPreset),
        "tiers": list(Tier),
        **more,
    }
    response = show(request, visit, "agents/form.html", context)
    response.status_code = status
    return response


def _changed(request: HttpRequest, visit: Visit, agent: Agent, said: str) -> HttpResponse:
    return changed(request, said, to=reverse("agent", args=[visit.company.slug, agent.handle]))
