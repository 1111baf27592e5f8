"""First steps: from an empty company to a first run, in three steps of which each can be left out."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agents.first_steps import first_steps
from agents.models import Agent, Run
from engine.demo.first import hire_first_agent
from issues.names import Names
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import Conflict
from issues.services.issues import create_issue

FIRST_ISSUE = "Say hello"
FIRST_DESCRIPTION = "Tell me what you were shown, and what you did with it."


@require_safe
@company_page
def start(request: HttpRequest, visit: Visit) -> HttpResponse:
    """`step` is the one to stand at, for who leaves one out; else the first that is still to be taken."""
    steps = first_steps(visit.company)
    asked = request.GET.get("step", "")
    run = Run.objects.filter(company=visit.company).select_related("issue").defer(*_LONG).order_by("-pk").first()
    context = {
        "at": reverse("home", args=[visit.company.slug]),
        "steps": steps,
        "current": int(asked) if asked in ("1", "2", "3") else steps.current,
        "agents": Names(visit.company).present_agents[:5],
        "run": run,
    }
    return show(request, visit, "agents/start_view.html" if is_partial(request) else "agents/start.html", context)


_LONG = ("system_message", "user_message", "prompt_sections", "reply")


@require_POST
@company_page
def hire(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Hire the scripted agent, which needs no key."""
    agent = hire_first_agent(actor=visit.person, company=visit.company)
    return changed(request, f"{agent.name} is hired.", to=reverse("start", args=[visit.company.slug]), moves_on=True)


@require_POST
@company_page
def open_issue(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Open an issue for the newest agent and go there: the run appears by itself."""
    agent = Agent.objects.filter(company=visit.company).active().order_by("-pk").first()
    if agent is None:
        raise Conflict("There is no agent at work yet.", "Hire one first.")
    issue = create_issue(
        actor=visit.person,
        company=visit.company,
        title=FIRST_ISSUE,
        description=FIRST_DESCRIPTION,
        assignee=agent,
    )
    to = reverse("issue", args=[visit.company.slug, issue.identifier])
    return changed(request, f"{issue.identifier} is open, and {agent.name} is woken.", to=to, moves_on=True)
