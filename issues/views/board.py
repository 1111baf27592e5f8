"""The board: a column for each status, assignee, priority or project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from issues.keysets import Order
from issues.models import Issue, Priority, Project, Status
from issues.names import Names
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import Invalid
from issues.services.board import move_issue
from issues.services.changes import change_issue
from issues.services.issues import assign_issue, set_priority
from issues.traces import traced
from issues.views.cards import first_of_each, make_cards, make_columns, order_named
from issues.views.filters import offer_filters
from issues.views.grouping import GROUPINGS, Group, group_of, read_groups
from issues.views.lookup import find_assignee, find_issue, find_project, named_issue, read_priority, read_status
from issues.views.selection import Selection, recently_closed_or_open

MOST_CARDS = 200
"""Of the page."""
CARDS = 28
"""Of a column at first: the seven statuses stay under 200."""
BESIDE = 14
"""Of a column beside one of which the reader asked for more."""
BOARD_ORDER = Order(("rank", "number"))


@require_safe
@company_page
def board(request: HttpRequest, visit: Visit) -> HttpResponse:
    selection = Selection.read(request.GET)
    names = Names(visit.company)
    projects = list(Project.objects.filter(company=visit.company).order_by("name"))
    by = selection.group if selection.group in GROUPINGS else "status"
    chosen = selection.apply(visit).filter(recently_closed_or_open())
    groups = read_groups(chosen, by, names=names, projects=projects, empty=True)
    limits = limit_cards(groups, request.GET.get("more", ""))
    # Within a status people have put the cards in order; elsewhere they lie in the order of work.
    order = BOARD_ORDER if by == "status" else order_named("")
    issues = list(first_of_each(chosen, groups, order, limits))
    columns = make_columns(groups, selection)
    for card in make_cards(visit.company, issues, names):
        columns[group_of(card.issue, by)].cards.append(card)
    context = {
        "at": reverse("board", args=[visit.company.slug]),
        "columns": list(columns.values()),
        "selection": selection,
        "by": by,
        "more": request.GET.get("more", ""),
    }
    if is_partial(request):
        return show(request, visit, "issues/board_columns.html", context)
    return show(
        request, visit, "issues/board.html", context | offer_filters(visit, names, projects, selection, "board")
    )


def limit_cards(groups: Sequence[Group], opened: str) -> Mapping[str, int]:
    """How many cards each column has: as many as it may and 200 in all. The column that is `opened` has what the
    others leave."""
    shared = min(CARDS, MOST_CARDS // max(1, len(groups)))
    if opened not in {group.key for group in groups}:
        return {group.key: shared for group in groups}
    beside = min(BESIDE, shared)
    taken = sum(min(beside, group.total) for group in groups if group.key != opened)
    return {group.key: MOST_CARDS - taken if group.key == opened else beside for group in groups}


@require_POST
@company_page
def move(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Put a card into another column: of a status (there above another card, or at its end), or of what else the
    columns are `by`."""
    issue = find_issue(visit, identifier)
    by = request.POST.get("by", "status")
    column = request.POST.get("to") or request.POST.get("status", "")
    before = request.POST.get("before", "")
    with traced() as trace:
        if by == "status":
            above = named_issue(visit, before) if before else None
            moved = move_issue(actor=visit.person, issue=issue, status=read_status(column), before=above)
            said = f"{moved.identifier} is in {Status(moved.status).label} now."
        else:
            said = _move_across(visit, issue, by, "" if column == "none" and by != "priority" else column)
    undoable = trace if by != "project" else None
    return changed(request, said, to=reverse("board", args=[visit.company.slug]), undo=undoable)


def _move_across(visit: Visit, issue: Issue, by: str, column: str) -> str:
    """Give the issue what the cards of that column have in common; what was done in words."""
    if by == "assignee":
        assignee = find_assignee(visit, column)
        assign_issue(actor=visit.person, issue=issue, assignee=assignee)
        return (
            f"{issue.identifier} is assigned to {assignee.name}." if assignee else f"{issue.identifier} is unassigned."
        )
    if by == "priority":
        priority = set_priority(actor=visit.person, issue=issue, priority=read_priority(column)).priority
        return f"The priority of {issue.identifier} is {Priority(priority).label.lower()} now."
    if by == "project":
        project = find_project(visit, column)
        change_issue(actor=visit.person, issue=issue, project=project)
        return (
            f"{issue.identifier} is in {project.name} now." if project else f"{issue.identifier} is in no project now."
        )
    raise Invalid(f"“{by}” is nothing that the board has columns of.", field="by")
