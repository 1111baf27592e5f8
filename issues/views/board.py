"""The board (a column a status) and the list: the same selection, seen in two ways."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from issues.models import Issue, Label, Priority, Project, Status
from issues.models.issue import IssueQuerySet
from issues.names import Names, Somebody
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.services.board import move_issue
from issues.traces import traced
from issues.views.lookup import find_issue, named_issue, read_status
from issues.views.saved import offered_views
from issues.views.selection import Selection, recently_closed_or_open, with_card_facts

MOST_CARDS = 28
"""Cards of a column at first: seven columns stay under 200 cards."""

ROWS = 100


@dataclass(frozen=True, slots=True)
class Column:
    status: Status
    cards: list[Card]
    total: int
    shown: int

    @property
    def rest(self) -> int:
        return max(0, self.total - len(self.cards))


@dataclass(frozen=True, slots=True)
class Card:
    """An issue with the one it is assigned to, as board and list show it."""

    issue: Any
    identifier: str
    assignee: Somebody | None


@require_safe
@company_page
def board(request: HttpRequest, visit: Visit) -> HttpResponse:
    selection = Selection.read(request.GET)
    names = Names(visit.company)
    context = {
        "at": reverse("board", args=[visit.company.slug]),
        "columns": _columns(visit, selection, names, _opened(request)),
        "selection": selection,
        "statuses": list(Status),
    }
    if is_partial(request):
        return show(request, visit, "issues/board_columns.html", context)
    return show(request, visit, "issues/board.html", {**context, **_choices(visit, names, selection, "board")})


@require_safe
@company_page
def issue_list(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Issues grouped by status, in the order of work. Keyset pages: `after` names the last issue of the page before."""
    selection = Selection.read(request.GET)
    return _list_page(request, visit, selection, at=reverse("issues", args=[visit.company.slug]), title="Issues")


@require_safe
@company_page
def mine(request: HttpRequest, visit: Visit) -> HttpResponse:
    """What is assigned to the reader."""
    selection = Selection(assignee="me")
    return _list_page(request, visit, selection, at=reverse("mine", args=[visit.company.slug]), title="My issues")


@require_POST
@company_page
def move(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Put a card into a column, above another card or at its end."""
    issue = find_issue(visit, identifier)
    status = read_status(request.POST.get("status", ""))
    before = request.POST.get("before", "")
    above = named_issue(visit, before) if before else None
    with traced() as trace:
        moved = move_issue(actor=visit.person, issue=issue, status=status, before=above)
    said = f"{moved.identifier} is in {Status(moved.status).label} now."
    return changed(request, said, to=reverse("board", args=[visit.company.slug]), undo=trace)


def _columns(visit: Visit, selection: Selection, names: Names, opened: frozenset[str]) -> list[Column]:
    chosen = selection.apply(visit).filter(recently_closed_or_open())
    totals = dict(chosen.order_by().values_list("status").annotate(Count("pk")))
    limits = {status: 10 * MOST_CARDS if status in opened else MOST_CARDS for status in Status}
    cards: dict[str, list[Card]] = {status: [] for status in Status}
    for issue in _first_of_each(chosen, limits):
        cards[issue.status].append(_card(visit, issue, names))
    return [Column(status, cards[status], totals.get(status, 0), limits[status]) for status in Status]


def _first_of_each(chosen: IssueQuerySet, limits: dict[Status, int]) -> IssueQuerySet:
    """The first cards of every column in one query: each column is read from the index that orders it, and no
    further than its limit, however many issues there are."""
    parts = [
        Q(pk__in=chosen.filter(status=status).in_board_order().values("pk")[:limit])
        for status, limit in limits.items()
    ]  # fmt: skip
    first = Issue.objects.filter(functools.reduce(operator.or_, parts))
    return with_card_facts(first).in_board_order()


def _list_page(request: HttpRequest, visit: Visit, selection: Selection, *, at: str, title: str) -> HttpResponse:
    names = Names(visit.company)
    chosen = selection.apply(visit)
    if not selection.status and not selection.text:
        chosen = chosen.filter(recently_closed_or_open())
    last = find_issue(visit, request.GET["after"]) if request.GET.get("after") else None
    rows = list(_after(with_card_facts(chosen), last)[: ROWS + 1])
    cards = [_card(visit, issue, names) for issue in rows[:ROWS]]
    context = {
        "at": at,
        "title": title,
        "cards": cards,
        "next": cards[-1].identifier if len(rows) > ROWS else "",
        "selection": selection,
    }
    if is_partial(request):
        return show(request, visit, "issues/list_rows.html", context)
    return show(request, visit, "issues/list.html", {**context, **_choices(visit, names, selection, "issues")})


def _after(issues: IssueQuerySet, last: Issue | None) -> IssueQuerySet:
    """The issues in the order of the list, those after `last`."""
    ordered = issues.in_work_order()
    if last is None:
        return ordered
    return ordered.filter(
        Q(priority__gt=last.priority)
        | Q(priority=last.priority, rank__gt=last.rank)
        | Q(priority=last.priority, rank=last.rank, number__gt=last.number)
    )


def _card(visit: Visit, issue: Issue, names: Names) -> Card:
    assignee = names.somebody(agent=issue.assignee_agent_id, member=issue.assignee_member_id)
    return Card(issue, f"{visit.company.key}-{issue.number}", assignee)


def _choices(visit: Visit, names: Names, selection: Selection, page: str) -> dict[str, Any]:
    """What the filters offer, and the views that are kept."""
    return {
        "page_name": page,
        "saved_views": offered_views(visit, page=page, selection=selection),
        "names": names,
        "statuses": list(Status),
        "priorities": list(Priority),
        "labels": Label.objects.filter(company=visit.company).order_by("name"),
        "projects": Project.objects.filter(company=visit.company, archived_at=None).order_by("name"),
    }


def _opened(request: HttpRequest) -> frozenset[str]:
    """Columns of which the reader asked for more."""
    return frozenset(request.GET.getlist("more")) & frozenset(Status.values)
