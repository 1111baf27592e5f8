"""Whom a text calls: told while it is being written, so that each can be left out, and whom it meant in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from issues.models import Company
from issues.names import Somebody, somebody_of
from issues.pages import Visit, company_page, show
from issues.services.comments import WakePreview, preview_wakes
from issues.services.mentions import Mentioned, mentioned_anew, mentioned_in
from issues.views.lookup import find_issue, named_issue

if TYPE_CHECKING:
    from agents.models import Agent


@require_POST
@company_page
def wakes(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Whom the text in the composer would wake and tell if it were posted now as a comment."""
    preview = preview_wakes(issue=find_issue(visit, identifier), body=request.POST.get("body", ""))
    return _answer(request, visit, preview.woken, preview)


@require_POST
@company_page
def description_wakes(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The same of a description: of a new issue, or in place of that of the issue `of`, whose names were called."""
    identifier = request.GET.get("of", "")
    already = named_issue(visit, identifier).description if identifier else ""
    mentioned = mentioned_anew(visit.company, request.POST.get("body", ""), already)
    return _answer(request, visit, tuple(agent for agent in mentioned.agents if agent.is_active), mentioned)


def told_of_nobody(said: str, company: Company, text: str) -> str:
    """What is said of a text that was sent, with whom it meant in vain."""
    mentioned = mentioned_in(company, text)
    if mentioned.unknown:
        said += f" Nobody is called {', '.join(f'@{word}' for word in mentioned.unknown)}."
    if mentioned.ambiguous:
        said += f" Several are called {', '.join(f'@{word}' for word in mentioned.ambiguous)}: a handle names one."
    return said


def _answer(
    request: HttpRequest, visit: Visit, woken: tuple[Agent, ...], found: WakePreview | Mentioned
) -> HttpResponse:
    context = {
        "woken": [Somebody("agent", agent.pk, agent.name, agent.handle, agent.status) for agent in woken],
        "told": [somebody_of(member) for member in found.members if member.pk != visit.member.pk],
        "unknown": found.unknown,
        "ambiguous": found.ambiguous,
        "without": request.POST.getlist("without"),
    }
    return show(request, visit, "issues/wakes.html", context)
