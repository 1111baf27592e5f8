"""An agent's instructions over time: what each saving changed, and going back to an older one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from agents.models import Agent, InstructionsVersion
from agents.services.agents import edit_agent
from agents.views.lookup import find_agent
from issues.diffs import DiffLine, diff_lines
from issues.names import Names, Somebody
from issues.numbers import as_id
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid

SHOWN = 50
"""Versions that the page shows, the newest."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A version with who wrote it and what it changed; of the oldest on the page, nothing."""

    version: InstructionsVersion
    author: Somebody | None
    changes: list[DiffLine]


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def instructions(request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    """The versions, newest first. Sent with the number of one, that one is saved again."""
    agent = find_agent(visit, handle)
    if request.method == "POST":
        version = _version(agent, request.POST.get("version", ""))
        edit_agent(actor=visit.person, agent=agent, instructions=version.text)
        to = reverse("instructions", args=[visit.company.slug, agent.handle])
        return changed(request, f"The instructions are as in version {version.number} again.", to=to, moves_on=True)
    names = Names(visit.company)
    rows = list(agent.instructions_versions.order_by("-number")[: SHOWN + 1])
    changes = [diff_lines(older.text, newer.text) for newer, older in pairwise(rows)]
    context = {
        "at": reverse("agents", args=[visit.company.slug]),
        "agent": agent,
        "saved": [
            Saved(row, names.somebody(agent=row.by_agent_id, member=row.member_id), change)
            for row, change in zip(rows[:SHOWN], [*changes, []], strict=False)
        ],
    }
    return show(request, visit, "agents/instructions.html", context)


def _version(agent: Agent, number: str) -> InstructionsVersion:
    found = agent.instructions_versions.filter(number=as_id(number)).first()
    if found is None:
        raise Invalid("There is no such version.", field="version")
    return found
