"""Following an issue."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from issues.pages import Visit, changed, company_page
from issues.services.watching import unwatch_issue, watch_issue
from issues.views.lookup import find_issue


@require_POST
@company_page
def watch(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Follow, or no longer: what the button says depends on what the page showed."""
    issue = find_issue(visit, identifier)
    to = reverse("issue", args=[visit.company.slug, issue.identifier])
    if request.POST.get("off"):
        unwatch_issue(actor=visit.person, issue=issue)
        return changed(request, f"You follow {issue.identifier} no longer.", to=to)
    watch_issue(actor=visit.person, issue=issue)
    return changed(request, f"You follow {issue.identifier}: your inbox tells when it is in review or done.", to=to)
