"""What agents may do: each agent's preset, and the company's own rules beside the presets."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from agents.models import Agent, PolicyPreset
from agents.services.agents import edit_agent
from engine.policy_table import find_permission, find_verb, movable_permissions
from engine.verbs.registry import VERBS
from issues.models import Grant, PolicyRule
from issues.names import Names
from issues.numbers import as_id, as_number
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, NotFound, Refusal
from issues.services.policy import change_policy, set_cap

PRESETS = (
    (PolicyPreset.PROBATION, "As standard, but it asks the board before it closes, assigns or opens an issue."),
    (PolicyPreset.STANDARD, "It works its own issues and their children, and asks before it closes or moves others."),
    (PolicyPreset.TRUSTED, "As standard, and it closes and moves the issues of those who report to it."),
)  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def policy(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Presets, rules, and what holds without a rule; posted to, it makes, changes or (`grant` empty) removes a rule."""
    if request.method != "POST":
        return _page(request, visit)
    try:
        change_policy(actor=visit.person, company=visit.company, **_rule(visit, request.POST))
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal)
    return changed(request, "The policy is changed.", to=_address(visit), moves_on=True)


@require_POST
@company_page
def preset(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    """Move an agent between the presets."""
    agent = Agent.objects.filter(company=visit.company, handle=handle).select_related("company").first()
    if agent is None:
        raise NotFound(f"There is no agent @{handle}.")
    agent = edit_agent(actor=visit.person, agent=agent, policy=request.POST.get("policy", ""))
    said = f"{agent.name} is on {agent.get_policy_display().lower()} now."
    return changed(request, said, to=_address(visit), moves_on=True)


@require_POST
@company_page
def cap(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Set how often one run may use a verb; with an empty figure, as often as the verb itself says."""
    verb, figure = request.POST.get("verb", ""), request.POST.get("cap", "").strip()
    most = as_number(figure)
    if figure and most is None:
        raise Invalid("How often is a number.", field="cap")
    set_cap(actor=visit.person, company=visit.company, verb=find_verb(verb).name, cap=most)
    return changed(request, f"The limit of /{verb} is changed.", to=_address(visit), moves_on=True)


def _rule(visit: Visit, form: Any) -> dict[str, Any]:
    permission = find_permission(form.get("permission", ""))
    granted = form.get("grant", "")
    if granted and granted not in Grant.values:
        raise Invalid("Choose allow, ask the board or deny.", field="grant")
    pk = form.get("agent", "")
    agent = Agent.objects.filter(company=visit.company, pk=as_id(pk)).first()
    if pk and agent is None:
        raise Invalid("There is no such agent.", field="agent")
    return {
        "permission": permission,
        "grant": Grant(granted) if granted else None,
        "role": form.get("role", "") if agent is None else "",
        "agent": agent,
    }


def _address(visit: Visit) -> str:
    return reverse("policy", args=[visit.company.slug])


def _page(request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None) -> HttpResponse:
    names = Names(visit.company)
    agents = Agent.objects.filter(company=visit.company).present().order_by("name", "pk")
    permissions = movable_permissions()
    context = {
        "at": reverse("settings", args=[visit.company.slug]),
        "here": "policy",
        "presets": PRESETS,
        "agents": [{"agent": agent, "somebody": names.agents.get(agent.pk)} for agent in agents],
        "rules": [
            {"rule": rule, "agent": names.agents.get(rule.agent_id or 0), "by": names.members.get(rule.made_by_id)}
            for rule in PolicyRule.objects.filter(company=visit.company)
        ],
        "roles": sorted({agent.role for agent in agents if agent.role}),
        "permissions": [(word, permission.reach.value) for word, permission in permissions.items()],
        "caps": [(verb.name, verb.cap, visit.company.action_caps.get(verb.name)) for verb in VERBS],
        "grants": list(Grant),
        "values": request.POST,
        "refusal": refusal,
    }
    response = show(request, visit, "settings/policy.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
