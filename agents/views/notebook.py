"""An agent's notebook: what it keeps from run to run, for people to read, search, put right and take out."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agents.models import Agent, Note, Observation
from agents.services.notebook import (
    NOTES_KEPT,
    OBSERVATIONS_KEPT,
    delete_note,
    delete_observation,
    edit_note,
    edit_observation,
)
from agents.views.lookup import find_agent
from issues.names import Names
from issues.numbers import as_number
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import NotFound

PAGE = 50

Row = TypeVar("Row", Note, Observation)


@require_safe
@company_page
def notebook(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    """Notes and observations that hold all the words of `text`; `before` is the last observation of the page before."""
    agent = find_agent(visit, handle)
    text = request.GET.get("text", "").strip()[:200]
    observations = agent.observations.holding(text).select_related("issue").order_by("-pk")
    before = as_number(request.GET.get("before", ""))
    if before is not None:
        observations = observations.filter(pk__lt=before)
    rows = list(observations[: PAGE + 1])
    context = {
        "at": reverse("agents", args=[visit.company.slug]),
        "agent": agent,
        "somebody": Names(visit.company).agents.get(agent.pk),
        "text": text,
        "notes": agent.notes.holding(text) if before is None else [],
        "observations": rows[:PAGE],
        "next": rows[PAGE - 1].pk if len(rows) > PAGE else None,
        "is_later": before is not None,
        "counts": (agent.notes.count(), agent.observations.count()),
        "most": (NOTES_KEPT, OBSERVATIONS_KEPT),
    }
    template = "agents/notebook_view.html" if is_partial(request) else "agents/notebook.html"
    return show(request, visit, template, context)


@require_POST
@company_page
def change_note(request: HttpRequest, visit: Visit, handle: str, note: int) -> HttpResponse:
    """Other words for a note, or, asked to `delete`, no note any more."""
    agent = find_agent(visit, handle)
    found = _find(agent.notes.all(), note, "note")
    if "delete" in request.POST:
        delete_note(actor=visit.person, note=found)
        return changed(request, f"The note “{found.key}” is deleted.", to=_address(visit, agent))
    edit_note(actor=visit.person, note=found, text=request.POST.get("text", ""))
    return changed(request, f"The note “{found.key}” is changed.", to=_address(visit, agent))


@require_POST
@company_page
def change_observation(request: HttpRequest, visit: Visit, handle: str, observation: int) -> HttpResponse:
    """Other words for an observation, or, asked to `delete`, no observation any more."""
    agent = find_agent(visit, handle)
    found = _find(agent.observations.all(), observation, "observation")
    if "delete" in request.POST:
        delete_observation(actor=visit.person, observation=found)
        return changed(request, "The observation is deleted.", to=_address(visit, agent))
    edit_observation(actor=visit.person, observation=found, text=request.POST.get("text", ""))
    return changed(request, "The observation is changed.", to=_address(visit, agent))


def _find(rows: QuerySet[Row], pk: int, what: str) -> Row:
    found = rows.select_related("agent__company").filter(pk=pk).first()
    if found is None:
        raise NotFound(f"There is no such {what}.")
    return found


def _address(visit: Visit, agent: Agent) -> str:
    return reverse("notebook", args=[visit.company.slug, agent.handle])
