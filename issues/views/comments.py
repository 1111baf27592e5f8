"""Writing on an issue: comments, their preview, and whom they would wake."""

from __future__ import annotations

from django.db.models import Case, When
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from issues.markdown import Place
from issues.models import Issue
from issues.names import Names
from issues.pages import Visit, changed, company_page, show
from issues.search import find_hits
from issues.services.comments import (
    delete_comment,
    edit_comment,
    pin_comment,
    unpin_comment,
    write_comment,
)
from issues.views.calling import told_of_nobody
from issues.views.lookup import find_comment, find_issue

OFFERED = 8
"""Completions at most."""


@require_POST
@company_page
def write(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    issue = find_issue(visit, identifier)
    comment = write_comment(
        actor=visit.person, issue=issue, body=request.POST.get("body", ""), without=request.POST.getlist("without")
    )
    said = told_of_nobody("The comment is posted.", visit.company, comment.body)
    return changed(request, said, to=_at(visit, identifier, comment.pk))


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def edit(request: HttpRequest, visit: Visit, identifier: str, comment: int) -> HttpResponse:
    issue = find_issue(visit, identifier)
    found = find_comment(issue, comment)
    if request.method != "POST":
        return show(request, visit, "issues/edit_comment.html", {"issue": issue, "comment": found})
    edit_comment(
        actor=visit.person,
        comment=found,
        body=request.POST.get("body", ""),
        call="call" in request.POST,
        without=request.POST.getlist("without"),
    )
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
        return show(request, visit, "issues/complete.html", {"issues": _issues_for(visit, word)})
    names = Names(visit.company)
    everybody = [*names.present_agents, *names.present_members]
    fitting = [one for one in everybody if one.handle.startswith(word) or one.name.lower().startswith(word)]
    return show(request, visit, "issues/complete.html", {"people": fitting[:OFFERED]})


def _issues_for(visit: Visit, word: str) -> list[Issue]:
    """The best issues for what is typed: those whose number begins so, then those that hold the words; for nothing,
    the last changed."""
    numbered = visit.company.issues.defer("description").order_by("-updated_at")
    if not word:
        return list(numbered[:OFFERED])
    key, _, number = word.removeprefix("#").rpartition("-")
    found: list[Issue] = []
    if number.isascii() and number.isdigit() and key in ("", visit.company.slug):
        exact_first = Case(When(number=int(number), then=0), default=1)
        found = list(numbered.filter(number__startswith=number).order_by(exact_first, "-updated_at")[:OFFERED])
    hits = find_hits(visit.company, word, limit=OFFERED)
    return [*found, *(hit.issue for hit in hits if hit.issue not in found)][:OFFERED]


def _at(visit: Visit, identifier: str, comment: int) -> str:
    return reverse("issue", args=[visit.company.slug, identifier]) + f"#comment-{comment}"
