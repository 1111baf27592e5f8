"""The switch that hides what agents do between their words. It is remembered by this browser."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from issues.pages import Visit, changed, company_page
from issues.themes import YEAR
from issues.views.lookup import find_issue

COOKIE = "trimus_noise"


def is_quiet(request: HttpRequest) -> bool:
    """Whether the reader wants people's changes and everybody's words alone."""
    return request.COOKIES.get(COOKIE) == "off"


@require_POST
@company_page
def noise(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Hide agents' changes and runs in all timelines, or with `on` show them again."""
    issue = find_issue(visit, identifier)
    word = "on" if "on" in request.POST else "off"
    said = "Agents' changes are shown." if word == "on" else "Agents' changes are hidden; what failed is not."
    response = changed(request, said, to=reverse("issue", args=[visit.company.slug, issue.identifier]))
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(COOKIE, word, max_age=YEAR, samesite="Lax", secure=secure, httponly=True)
    return response
