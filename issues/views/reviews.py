"""Who judges an issue, and the verdicts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from issues.models import Verdict
from issues.names import Names
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid
from issues.services.reviews import give_verdict, set_reviewers
from issues.views.lookup import find_assignee, find_issue


@require_POST
@company_page
def verdict(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """A reviewer's word on an issue in review."""
    issue = find_issue(visit, identifier)
    word = request.POST.get("verdict", "")
    if word not in (Verdict.ACCEPT, Verdict.SEND_BACK):
        raise Invalid(f"“{word}” is not a verdict.", field="verdict")
    give_verdict(actor=visit.person, issue=issue, verdict=Verdict(word), note=request.POST.get("note", ""))
    said = f"{identifier} is accepted." if word == Verdict.ACCEPT else f"{identifier} is sent back."
    return changed(request, said, to=reverse("issue", args=[visit.company.slug, identifier]))


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def reviewers(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Choose who judges the issue once it is in review."""
    issue = find_issue(visit, identifier)
    if request.method != "POST":
        names = Names(visit.company)
        named = [names.somebody(agent=row.agent_id, member=row.member_id) for row in issue.reviewers.all()]
        context = {"issue": issue, "named": named, "everybody": [*names.present_members, *names.present_agents]}
        return show(request, visit, "issues/reviewers.html", context)
    chosen = [found for value in request.POST.getlist("reviewer") if (found := find_assignee(visit, value))]
    set_reviewers(actor=visit.person, issue=issue, reviewers=chosen)
    to = reverse("issue", args=[visit.company.slug, identifier])
    return changed(request, "The reviewers are named.", to=to, moves_on=True)
