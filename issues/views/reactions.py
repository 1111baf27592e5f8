"""Reactions to comments."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from issues.models import ReactionKind
from issues.pages import Visit, changed, company_page
from issues.refusals import Invalid
from issues.services.reactions import react, take_back_reaction
from issues.views.lookup import find_comment, find_issue


@require_POST
@company_page
def reaction(request: HttpRequest, visit: Visit, identifier: str, comment: int) -> HttpResponse:
    """Give a reaction, or take it back: `on` or `off` is its word, by what the page showed."""
    found = find_comment(find_issue(visit, identifier), comment)
    is_off = "off" in request.POST
    word = request.POST.get("off" if is_off else "on", "")
    if word not in ReactionKind.values:
        raise Invalid(f"“{word}” is not a reaction.", field="reaction")
    kind = ReactionKind(word)
    change = take_back_reaction if is_off else react
    change(actor=visit.person, comment=found, kind=kind)
    said = f"“{kind.label}” is taken back." if is_off else f"You said “{kind.label}”."
    return changed(request, said, to=reverse("issue", args=[visit.company.slug, identifier]) + f"#comment-{comment}")
