"""A quick look at an issue from board or list."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from issues.markdown import Place
from issues.models import Issue
from issues.names import Names, Wanted
from issues.pages import Visit, company_page, show
from issues.views.lookup import find_issue
from issues.views.selection import with_card_facts

COMMENTS = 3
"""The last ones; the issue's page has all."""


@require_safe
@company_page
def peek(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """What it is about and what was said last, as a part of the page that asks."""
    issue: Any = find_issue(visit, identifier, among=with_card_facts(Issue.objects.all()).defer(None))
    names = Names(visit.company, Wanted(issues=frozenset({issue.parent_id} - {None})))
    last = issue.comments.filter(deleted_at=None).order_by("-pk")[:COMMENTS]
    said = [
        {"comment": one, "author": names.somebody(agent=one.author_agent_id, member=one.author_member_id)}
        for one in reversed(last)
    ]
    context = {
        "issue": issue,
        "identifier": f"{visit.company.key}-{issue.number}",
        "assignee": names.somebody(agent=issue.assignee_agent_id, member=issue.assignee_member_id),
        "parent": names.issues.get(issue.parent_id),
        "said": said,
        "place": Place(visit.company.key, names.handles),
    }
    return show(request, visit, "issues/peek.html", context)
