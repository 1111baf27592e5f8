"""Writing on an issue: comments, their preview, and whom they would wake."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from issues.markdown import Place
from issues.models import Issue
from issues.names import Names, Somebody
from issues.pages import Visit, changed, company_page, show
from issues.search import matching
from issues.services.comments import (
    delete_comment,
    edit_comment,
    pin_comment,
    preview_wakes,
    unpin_comment,
    write_comment,
)
from issues.views.lookup import find_comment, find_issue


@require_POST
@company_page
def write(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    issue = find_issue(visit, identifier)
    comment = write_comment(
        actor=visit.person, issue=issue, body=request.POST.get("body", ""), without=request.POST.getlist("without")
    )
    return changed(request, "The comment is posted.", to=_at(visit, identifier, comment.pk))


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def edit(request: HttpRequest, visit: Visit, identifier: str, comment: int) -> HttpResponse:
    issue = find_issue(visit, identifier)
    found = find_comment(issue, comment)
    if request.method != "POST":
        return show(request, visit, "issues/edit_comment.html", {"issue": issue, "comment": found})
    edit_comment(actor=visit.person, comment=found, body=request.POST.get("body", ""))
    return changed(request, "The comment is changed.", to=_at(visit, identifier, comment))


@require_POST
@company_page
def delete(request: HttpRequest, visit: Visit, identifier: str, comment: int) -> HttpResponse:
    delete_comment(actor=visit.person, comment=find_comment(find_issue(visit, identifier), comment))
    return changed(request, "The comment is deleted.", to=_at(visit, identifier, comment))


@require_POST
@company_page
def pin(request: HttpRequest, visit: Visit, identifier: str, comment: int) -> HttpResponse:
    """Pin, or take the pin off again: what the button says depends on what the page showed."""
    found = find_comment(find_issue(visit, identifier), comment)
    if request.POST.get("off"):
        unpin_comment(actor=visit.person, comment=found)
        return changed(request, "The pin is off.", to=_at(visit, identifier, comment))
    pin_comment(actor=visit.person, comment=found)
    return changed(request, "Pinned: agents see it whole in every prompt here.", to=_at(visit, identifier, comment))


@require_POST
@company_page
def wakes(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Whom the text in the composer would wake and tell if it were posted now."""
    issue = find_issue(visit, identifier)
    preview = preview_wakes(issue=issue, body=request.POST.get("body", ""))
    woken = [*preview.mentioned, *([preview.assignee] if preview.assignee else [])]
    context = {
        "issue": issue,
        "woken": [Somebody("agent", agent.pk, agent.name, agent.handle, agent.status) for agent in woken],
        "told": [Somebody("member", one.pk, one.name, one.handle, one.role) for one in preview.members],
        "unknown": preview.unknown,
        "without": request.POST.getlist("without"),
    }
    return show(request, visit, "issues/wakes.html", context)


@require_POST
@company_page
def preview(request: HttpRequest, visit: Visit) -> HttpResponse:
    """A text as it will look."""
    names = Names(visit.company)
    place = Place(visit.company.key, names.handles)
    return show(request, visit, "issues/preview.html", {"text": request.POST.get("body", ""), "place": place})


@require_GET
@company_page
def complete(request: HttpRequest, visit: Visit) -> HttpResponse:
    """What may follow an @ or # that is being typed: people and agents, or issues."""
    word = request.GET.get("q", "")[:60].lower()
    if request.GET.get("of") == "issues":
        found = _starting_with(visit.company.issues.order_by("-updated_at"), word)
        return show(request, visit, "issues/complete.html", {"issues": found[:8]})
    names = Names(visit.company)
    everybody = [*names.present_agents, *names.present_members]
    fitting = [one for one in everybody if one.handle.startswith(word) or one.name.lower().startswith(word)]
    return show(request, visit, "issues/complete.html", {"people": fitting[:8]})


def _starting_with(issues: QuerySet[Issue], word: str) -> QuerySet[Issue]:
    """Issues whose number begins so, or which hold all the words; all of them for nothing."""
    if word.isdigit():
        return issues.filter(number__startswith=word)
    return matching(issues, word) if word else issues


def _at(visit: Visit, identifier: str, comment: int) -> str:
    return reverse("issue", args=[visit.company.slug, identifier]) + f"#comment-{comment}"
