"""The audit, newest first."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from issues.models import Activity
from issues.names import Names, Wanted
from issues.pages import Visit, company_page, is_partial, show
from issues.sentences import named_in, tell

LINES = 100


@require_safe
@company_page
def activity(request: HttpRequest, visit: Visit) -> HttpResponse:
    """A page of lines; `before` is the id of the last line of the page before."""
    lines = Activity.objects.filter(company=visit.company).order_by("-pk")
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit():
        lines = lines.filter(pk__lt=int(before))
    rows = list(lines[: LINES + 1])
    shown = rows[:LINES]
    named = Wanted(issues=frozenset(line.issue_id for line in shown if line.issue_id is not None))
    names = Names(visit.company, named | named_in(shown))
    root = f"/{visit.company.slug}/"
    context = {
        "at": reverse("activity", args=[visit.company.slug]),
        "told": [
            {
                "line": line,
                "actor": names.somebody(agent=line.agent_id, member=line.member_id),
                "sentence": tell(line, names, root),
                "issue": names.issues.get(line.issue_id) if line.issue_id else None,
            }
            for line in shown
        ],
        "next": shown[-1].pk if len(rows) > LINES else None,
    }
    template = "issues/activity_lines.html" if is_partial(request) else "issues/activity.html"
    return show(request, visit, template, context)
