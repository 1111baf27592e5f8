"""The audit, newest first: a page of it, and all of it as a table."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags
from django.views.decorators.http import require_safe

from issues.models import Activity, Company
from issues.names import NamedIssue, Names, Somebody, Wanted
from issues.numbers import as_number
from issues.pages import Visit, company_page, is_partial, show
from issues.sentences import Sentence, named_in, tell
from issues.spreadsheets import Cell, csv_answer
from issues.views.audit_selection import GROUPS, AuditSelection

LINES = 100
TABLE_LINES = 1_000

COUNTED = 10_000
"""Lines that are counted: more are "more than" these, since counting reads them all."""


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
    selection = AuditSelection.read(request.GET)
    chosen = selection.apply(visit.company)
    lines = chosen
    if (before := as_number(request.GET.get("before", ""))) is not None:
        lines = lines.filter(pk__lt=before)
    rows = list(lines[: LINES + 1])
    shown = rows[:LINES]
    names = Names(visit.company, wanted_by(shown))
    context = {
        "at": reverse("activity", args=[visit.company.slug]),
        "selection": selection,
        "groups": GROUPS,
        "names": names,
        "found": chosen.order_by()[: COUNTED + 1].count(),
        "most_counted": COUNTED,
        "told": tell_lines(shown, names, f"/{visit.company.slug}/"),
        "next": shown[-1].pk if len(rows) > LINES else None,
    }
    template = "issues/activity_lines.html" if is_partial(request) else "issues/activity.html"
    return show(request, visit, template, context)


@require_safe
@company_page
def activity_table(request: HttpRequest, visit: Visit) -> StreamingHttpResponse:
    """The selected lines for a spreadsheet."""
    selection = AuditSelection.read(request.GET)
    name = f"{visit.company.slug}-activity-{timezone.now():%Y-%m-%d}.csv"
    return csv_answer(name, _HEADER, _table(visit.company, selection.apply(visit.company)))


_HEADER = ("Line", "Time (UTC)", "Actor", "Handle", "Actor is", "Kind", "Issue", "What")


def _table(company: Company, lines: QuerySet[Activity]) -> Iterator[Sequence[Cell]]:
    """The lines from newest to oldest, some at a time: names are looked up for so many, and no more are held."""
    before: int | None = None
    while rows := list((lines if before is None else lines.filter(pk__lt=before))[:TABLE_LINES]):
        before = rows[-1].pk
        names = Names(company, wanted_by(rows))
        for told in tell_lines(rows, names, f"/{company.slug}/"):
            line, actor = told.line, told.actor
            yield (
                line.pk,
                f"{line.created_at:%Y-%m-%d %H:%M:%S}",
                actor.name if actor is not None else "Trimus",
                actor.handle if actor is not None else "",
                line.get_actor_kind_display(),
                line.kind,
                told.issue.identifier if told.issue is not None else "",
                html.unescape(strip_tags(told.sentence.text)),
            )


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
