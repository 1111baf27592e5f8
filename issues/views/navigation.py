"""Ways to somewhere: search, mentions, and the side bar with its figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from issues.excerpts import excerpt
from issues.models import Comment, Member
from issues.names import Names, Somebody
from issues.pages import Visit, company_page, show
from issues.refusals import NotFound
from issues.search import MOST_HITS, Hit, Place, find_hits, read_words
from issues.views.lookup import find_issue

LONGEST_SEARCH = 200
"""Characters that are looked for; nobody remembers more."""


@require_safe
@company_page
def side(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The places of the side bar with their figures, for a page at the address `at`."""
    return show(request, visit, "parts/places_view.html", {"at": request.GET.get("at", "")})


@require_safe
@company_page
def search(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Straight to the issue for an identifier or number, else the best issues for the words, with where they stand."""
    text = request.GET.get("q", "").strip()[:LONGEST_SEARCH]
    try:
        issue = find_issue(visit, text)
    except NotFound:
        return show(request, visit, "issues/search.html", _found(visit, text))
    return redirect("issue", visit.company.slug, issue.identifier)


@require_safe
@company_page
def who(_request: HttpRequest, visit: Visit, handle: str) -> HttpResponse:
    """Where a mention leads: an agent's page, or the issues of a person."""
    if visit.company.agents.filter(handle=handle).exists():
        return redirect("agent", visit.company.slug, handle)
    member = Member.objects.filter(company=visit.company, handle=handle).first()
    if member is None:
        raise NotFound(f"There is nobody called @{handle}.")
    return redirect(f"{reverse('issues', args=[visit.company.slug])}?assignee=member:{member.pk}")


@dataclass(frozen=True, slots=True)
class Found:
    """An issue that a search found: its title, and what else was found in, with the words marked."""

    hit: Hit
    title: SafeString
    said: SafeString
    comment: Comment | None
    author: Somebody | None


def _found(visit: Visit, text: str) -> dict[str, Any]:
    words = read_words(text)
    hits = find_hits(visit.company, text)
    described = [hit.issue.pk for hit in hits if hit.place is Place.DESCRIPTION]
    descriptions = dict(visit.company.issues.filter(pk__in=described).values_list("pk", "description"))
    comments = Comment.objects.in_bulk([hit.comment for hit in hits if hit.comment is not None])
    names = Names(visit.company)
    found = []
    for hit in hits:
        comment = comments.get(hit.comment) if hit.comment is not None else None
        said = comment.body if comment is not None else descriptions.get(hit.issue.pk, "")
        found.append(
            Found(
                hit,
                title=excerpt(hit.issue.title, words, around=None),
                said=excerpt(said, words),
                comment=comment,
                author=names.somebody(agent=comment.author_agent_id, member=comment.author_member_id)
                if comment is not None
                else None,
            )
        )
    return {"text": text, "found": found, "is_more": len(found) == MOST_HITS}
