"""The list of issues: groups with their counts, children below their parents, page after page."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from issues.models import Project
from issues.models.issue import IssueQuerySet
from issues.names import Names
from issues.pages import Visit, company_page, is_partial, show
from issues.views.cards import Column, first_of_each, make_columns, nest, order_named, sorted_issues, topmost
from issues.views.filters import offer_filters
from issues.views.grouping import FIELDS, Group, group_of, read_groups
from issues.views.lookup import find_issue
from issues.views.selection import Selection, recently_closed_or_open, with_card_facts

ROWS = 100
"""Of one page, without the children below them."""
FEWEST = 10
"""Rows of each group at first, however many groups there are."""
MORE = 200
"""Rows of a group of which the reader asked for more; its own list has the rest, page after page."""


@require_safe
@company_page
def issue_list(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Issues in groups, or one after the other: then in keyset pages, `after` names the last of the page before."""
    selection = Selection.read(request.GET)
    return _list_page(request, visit, selection, at=reverse("issues", args=[visit.company.slug]), title="Issues")


@require_safe
@company_page
def mine(request: HttpRequest, visit: Visit) -> HttpResponse:
    """What is assigned to the reader."""
    selection = Selection(assignee="me", group=request.GET.get("group", ""), sort=request.GET.get("sort", ""))
    return _list_page(request, visit, selection, at=reverse("mine", args=[visit.company.slug]), title="My issues")


def _list_page(request: HttpRequest, visit: Visit, selection: Selection, *, at: str, title: str) -> HttpResponse:
    names = Names(visit.company)
    projects = list(Project.objects.filter(company=visit.company).order_by("name"))
    chosen = selection.apply(visit)
    if not selection.status and not selection.text:
        chosen = chosen.filter(recently_closed_or_open())
    by = selection.group if selection.group in FIELDS else "status"
    context: dict[str, Any] = {"at": at, "title": title, "selection": selection, "by": by, "page_size": ROWS}
    if by == "none":
        context |= _flat(request, visit, selection, chosen, names)
    else:
        groups = read_groups(chosen, by, names=names, projects=projects, empty=False)
        opened = frozenset(request.GET.getlist("more"))
        context["opened"] = opened
        context["columns"] = _grouped(visit, selection, chosen, groups, names, opened)
    if is_partial(request):
        return show(request, visit, "issues/list_rows.html", context)
    return show(
        request, visit, "issues/list.html", context | offer_filters(visit, names, projects, selection, "issues")
    )


def _flat(
    request: HttpRequest, visit: Visit, selection: Selection, chosen: IssueQuerySet, names: Names
) -> dict[str, Any]:
    """One page of issues in their order, with the address of the next."""
    order = order_named(selection.sort)
    rows = sorted_issues(with_card_facts(topmost(chosen, "none")), order)
    if request.GET.get("after"):
        last = find_issue(visit, request.GET["after"], among=sorted_issues(visit.company.issues.all(), order))
        rows = cast(IssueQuerySet, order.beyond(rows, order.place_of(last)))
    page = list(rows[: ROWS + 1])
    cards = nest(visit.company, page[:ROWS], chosen, "none", order, names)
    return {
        "columns": [Column(Group("none", "", "", (), len(cards)), cards=cards)] if cards else [],
        "next": f"{visit.company.key}-{page[ROWS - 1].number}" if len(page) > ROWS else "",
    }


def _grouped(
    visit: Visit,
    selection: Selection,
    chosen: IssueQuerySet,
    groups: list[Group],
    names: Names,
    opened: frozenset[str],
) -> list[Column]:
    """The groups with their first rows."""
    by, order = (groups[0].by, order_named(selection.sort)) if groups else ("status", order_named(""))
    at_first = max(FEWEST, ROWS // max(1, len(groups)))
    limits = {group.key: MORE if group.key in opened else at_first for group in groups}
    rows = list(first_of_each(topmost(chosen, by), groups, order, limits))
    cards = nest(visit.company, rows, chosen, by, order, names)
    columns = make_columns(groups, selection)
    for card in cards:
        if (column := columns.get(group_of(card.issue, by))) is not None:
            column.cards.append(card)
    return list(columns.values())
