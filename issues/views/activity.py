"""The audit, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from issues.models import Activity, Company
from issues.names import NamedIssue, Names, Somebody, Wanted
from issues.pages import Visit, company_page, is_partial, show
from issues.sentences import Sentence, named_in, tell

LINES = 100


@dataclass(frozen=True, slots=True)
class ToldLine:
    """A line of activity in words. Without an actor it was Trimus itself."""

    line: Activity
    actor: Somebody | None
    sentence: Sentence
    issue: NamedIssue | None


@require_safe
@company_page
def activity(request: HttpRequest, visit: Visit) -> HttpResponse:
    """A page of lines; `before` is the id of the last line of the page before."""
    lines = newest_lines(visit.company)
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 19:
        lines = lines.filter(pk__lt=int(before))
    rows = list(lines[: LINES + 1])
    shown = rows[:LINES]
    names = Names(visit.company, wanted_by(shown))
    context = {
        "at": reverse("activity", args=[visit.company.slug]),
        "told": tell_lines(shown, names, f"/{visit.company.slug}/"),
        "next": shown[-1].pk if len(rows) > LINES else None,
    }
    template = "issues/activity_lines.html" if is_partial(request) else "issues/activity.html"
    return show(request, visit, template, context)


def newest_lines(company: Company) -> QuerySet[Activity]:
    return Activity.objects.filter(company=company).order_by("-pk")


def wanted_by(lines: Sequence[Activity] | QuerySet[Activity]) -> Wanted:
    """What has to be named to tell the lines, with the issues that they are of."""
    return named_in(lines) | Wanted(issues=frozenset(line.issue_id for line in lines if line.issue_id is not None))


def tell_lines(lines: Sequence[Activity] | QuerySet[Activity], names: Names, root: str) -> list[ToldLine]:
    return [
        ToldLine(
            line=line,
            actor=names.somebody(agent=line.agent_id, member=line.member_id),
            sentence=tell(line, names, root),
            issue=names.issues.get(line.issue_id) if line.issue_id else None,
        )
        for line in lines
    ]
