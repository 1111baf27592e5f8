"""Ways to somewhere: search, mentions, and the side bar with its figures."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from issues.models import Member
from issues.pages import Visit, company_page, show
from issues.refusals import NotFound
from issues.views.lookup import find_issue


@require_safe
@company_page
def side(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The places of the side bar with their figures, for a page at the address `at`."""
    return show(request, visit, "parts/places_view.html", {"at": request.GET.get("at", "")})


@require_safe
@company_page
def search(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Straight to the issue for an identifier or number, else the list that holds the words."""
    words = request.GET.get("q", "").strip()
    try:
        issue = find_issue(visit, words)
    except NotFound:
        query = urlencode({"text": words})
        return redirect(f"{reverse('issues', args=[visit.company.slug])}?{query}")
    return redirect("issue", visit.company.slug, issue.identifier)


@require_safe
@company_page
def who(_request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    """Where a mention leads: an agent's page, or the issues of a person."""
    if visit.company.agents.filter(handle=handle.lower()).exists():
        return redirect("agent", visit.company.slug, handle.lower())
    member = Member.objects.filter(company=visit.company, handle=handle.lower()).first()
    if member is None:
        raise NotFound(f"There is nobody called @{handle}.")
    return redirect(f"{reverse('issues', args=[visit.company.slug])}?assignee=member:{member.pk}")
