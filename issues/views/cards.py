"""Issues as board and list show them: the first ones of each group, with what stands on a card or row."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from django.db.models import Exists, OuterRef, Q, Value, prefetch_related_objects
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from issues.keysets import Order
from issues.models import Company, Issue
from issues.models.issue import IssueQuerySet
from issues.names import Names, Somebody
from issues.views.grouping import Group, group_of, in_same_group
from issues.views.selection import Selection, with_card_facts

SORTS = {
    "": ("priority", Order(("priority", "rank", "number"))),
    "changed": ("last change", Order(("updated_at", "number"), falling=True)),
    "opened": ("newest", Order(("number",), falling=True)),
    "due": ("due date", Order(("due", "priority", "number"))),
    "title": ("title", Order(("title", "number"))),
}
"""Orders of a list, by their word in an address: "" is the order of work."""
DEEPEST = 8
"""Levels of children that a list shows below an issue."""
MOST_NESTED = 300
"""Children that a page of a list shows below its issues; each parent's own page has all."""


@dataclass(frozen=True, slots=True)
class Card:
    """An issue with the one it is assigned to. In a list it can stand below its parent, at a depth, and others below
    it."""

    issue: Any
    identifier: str
    assignee: Somebody | None
    depth: int = 0
    below: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A group with its first cards. `alone` is the query of the list that holds the whole group and nothing else."""

    group: Group
    alone: str = ""
    cards: list[Card] = field(default_factory=list)

    @property
    def rest(self) -> int:
        """How many issues of the group the page does not show."""
        return max(0, self.group.total - len(self.cards))


def make_columns(groups: Sequence[Group], selection: Selection) -> dict[tuple[Any, ...], Column]:
    """A column without cards for each group, by what its issues have in common."""
    return {
        group.has: Column(group, replace(selection, **{group.by: group.key, "group": "none"}).query) for group in groups
    }


def make_cards(company: Company, issues: Sequence[Issue], names: Names) -> list[Card]:
    """The issues as cards. One query."""
    prefetch_related_objects(issues, "labels")
    return [_card(company, issue, names) for issue in issues]


def order_named(sort: str) -> Order:
    return SORTS.get(sort, SORTS[""])[1]


def sorted_issues(issues: IssueQuerySet, order: Order) -> IssueQuerySet:
    """In that order; issues without a due date come after all that have one."""
    if "due" in order.columns:
        issues = issues.annotate(due=Coalesce("due_date", Value(datetime.date.max)))
    return cast(IssueQuerySet, order.apply(issues))


def first_of_each(
    chosen: IssueQuerySet, groups: Sequence[Group], order: Order, limits: Mapping[str, int]
) -> IssueQuerySet:
    """The first issues of every group in one query: each group is read in its order, and no further than its limit,
    however many issues there are."""
    parts = [
        # Each within a query of its own: SQLite joins no parts that have an order or a limit.
        Issue.objects.filter(
            pk__in=sorted_issues(chosen.filter(group.condition), order).values("pk")[: limits[group.key]]
        ).values("pk")
        for group in groups
        if group.total
    ]
    if not parts:
        return chosen.none()
    # One set of ids: for several that are joined by OR, PostgreSQL reads all issues of all companies.
    first = Issue.objects.filter(pk__in=parts[0].union(*parts[1:], all=True))
    return sorted_issues(with_card_facts(first), order)


def topmost(chosen: IssueQuerySet, by: str) -> IssueQuerySet:
    """The chosen issues that stand by themselves: without a parent, or whose parent is not chosen or in another
    group."""
    parents = in_same_group(chosen.filter(pk=OuterRef("parent")), by)
    return chosen.filter(Q(parent=None) | ~Exists(parents))


def nest(
    company: Company, rows: Sequence[Issue], chosen: IssueQuerySet, by: str, order: Order, names: Names
) -> list[Card]:
    """The rows, each with the chosen issues of its group below it, children of children included. Two queries."""
    below: dict[int, list[Issue]] = {}
    children = _descendants(rows, chosen, order)
    prefetch_related_objects([*rows, *children], "labels")
    for child in children:
        below.setdefault(child.parent_id or 0, []).append(child)
    cards: list[Card] = []

    def place(issue: Issue, depth: int) -> None:
        at = len(cards)
        cards.append(_card(company, issue, names, depth=depth))
        for child in below.get(issue.pk, ()):
            if depth < DEEPEST and group_of(child, by) == group_of(issue, by):
                place(child, depth + 1)
        if len(cards) > at + 1:
            cards[at] = _card(company, issue, names, depth=depth, below=len(cards) - at - 1)

    for row in rows:
        place(row, 0)
    return cards


def _descendants(rows: Sequence[Issue], chosen: IssueQuerySet, order: Order) -> list[Issue]:
    """Chosen children of the rows, their children and so on, at most as deep as a list shows."""
    marks = ", ".join(["%s"] * len(rows)) or "NULL"
    below = f"""
        WITH RECURSIVE below(id, depth) AS (
            SELECT id, 1 FROM issues_issue WHERE parent_id IN ({marks})
            UNION ALL
            SELECT child.id, depth + 1 FROM issues_issue child JOIN below ON child.parent_id = below.id
            WHERE depth < {DEEPEST}
        ) SELECT id FROM below
    """  # noqa: S608 - placeholders and a number alone
    found = chosen.filter(pk__in=RawSQL(below, [row.pk for row in rows]))  # noqa: S611 - the same
    return list(sorted_issues(with_card_facts(found), order)[:MOST_NESTED])


def _card(company: Company, issue: Issue, names: Names, *, depth: int = 0, below: int = 0) -> Card:
    assignee = names.somebody(agent=issue.assignee_agent_id, member=issue.assignee_member_id)
    return Card(issue, f"{company.key}-{issue.number}", assignee, depth, below)
