"""Where a member arrives, and what the pages of a company share."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from issues.events import MOST_AT_ONCE, changes_since
from issues.models import Member, User
from issues.pages import Visit, company_page, show
from issues.refusals import NotFound
from issues.views.lookup import find_issue


@require_safe
@login_required
def companies(request: HttpRequest) -> HttpResponse:
    """The user's companies; with one only, that one."""
    assert isinstance(request.user, User)  # noqa: S101 - logged in
    memberships = Member.objects.present().filter(user=request.user).select_related("company").order_by("company__name")
    if len(memberships) == 1:
        return redirect("home", memberships[0].company.slug)
    return render(request, "session/companies.html", {"memberships": memberships})


@require_safe
@company_page
def home(_request: HttpRequest, visit: Visit) -> HttpResponse:
    return redirect("board", visit.company.slug)


@require_safe
@company_page
def side(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The places of the side bar with their figures, for a page at the address `at`."""
    return show(request, visit, "parts/places_view.html", {"at": request.GET.get("at", "")})


@require_safe
@company_page
def changes(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The event stream's news for a page that cannot hold a stream: it asks now and then."""
    asked = request.GET.get("after", "")
    after = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 19 else 0
    news = changes_since(visit.company.pk, after)
    return JsonResponse(
        {
            "after": max([after, *(change.id for change in news)]),
            "reset": len(news) >= MOST_AT_ONCE,
            "changes": [
                {"id": change.id, "kind": change.kind, "issue": change.issue, "run": change.run}
                for change in news[:MOST_AT_ONCE]
                if change.id > after
            ],
        }
    )


@require_safe
@company_page
def search(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Straight to the issue for an identifier or number, else the list that holds the words."""
    words = request.GET.get("q", "").strip()
    try:
        issue = find_issue(visit, words)
    except NotFound:
        address = reverse("issues", args=[visit.company.slug])
        return redirect(f"{address}?{urlencode({'text': words})}" if words else address)
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
