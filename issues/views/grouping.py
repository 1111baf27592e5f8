"""What board and list sort issues into: the columns of the one, the groups of the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, Count, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact

from issues.models import Issue, Priority, Project, Status
from issues.models.issue import IssueQuerySet
from issues.names import Names, Somebody

GROUPINGS = {"status": "Status", "assignee": "Assignee", "priority": "Priority", "project": "Project"}
FIELDS: Mapping[str, tuple[str, ...]] = {
    "status": ("status",),
    "assignee": ("assignee_agent", "assignee_member"),
    "priority": ("priority",),
    "project": ("project",),
    "none": (),
}
"""What the issues of a group have in common."""
_ATTRIBUTES = {
    by: tuple(f"{field}_id" if Issue._meta.get_field(field).is_relation else field for field in fields)
    for by, fields in FIELDS.items()
}
OFFERED_EMPTY = 12
"""So many people and agents, or projects, have a column each on the board, also an empty one to move a card into."""


@dataclass(frozen=True, slots=True)
class Group:
    """Issues with one thing in common, which `key` says as a filter of that name does. `value` is what they share, as
    pages draw it: a status, a priority, somebody, or nothing that has a picture."""

    by: str
    key: str
    name: str
    has: tuple[Any, ...]
    total: int
    value: Status | Priority | Somebody | None = None

    @property
    def condition(self) -> Q:
        return Q(**dict(zip(FIELDS[self.by], self.has, strict=True)))


def read_groups(
    chosen: IssueQuerySet, by: str, *, names: Names, projects: Iterable[Project], empty: bool
) -> list[Group]:
    """The groups of the chosen issues in their order, counted in one query. With `empty` also those that a card could
    be moved into."""
    fields = FIELDS[by]
    if not fields:
        return [Group(by, "", "", (), chosen.count())]
    counted = chosen.order_by().values_list(*fields).annotate(Count("pk"))
    totals: dict[tuple[Any, ...], int] = {tuple(has): total for *has, total in counted}
    known = {
        "status": lambda: _statuses(totals),
        "priority": lambda: _priorities(totals),
        "assignee": lambda: _assignees(totals, names),
        "project": lambda: _projects(totals, projects),
    }[by]()
    is_fixed = by in ("status", "priority") or len(known) <= OFFERED_EMPTY
    return [group for group in known if group.total or (empty and is_fixed)]


def in_same_group(issues: IssueQuerySet, by: str) -> IssueQuerySet:
    """For a subquery: of these issues, those in the group of the issue outside of it."""
    for field in FIELDS[by]:
        if Issue._meta.get_field(field).null:
            inner, outer = (Coalesce(one, 0, output_field=BigIntegerField()) for one in (F(field), OuterRef(field)))
            issues = issues.filter(Exact(inner, outer))
        else:
            issues = issues.filter(**{field: OuterRef(field)})
    return issues


def group_of(issue: Issue, by: str) -> tuple[Any, ...]:
    """What the issue has in common with its group: that group's `has`."""
    return tuple(getattr(issue, name) for name in _ATTRIBUTES[by])


def _statuses(totals: Mapping[tuple[Any, ...], int]) -> list[Group]:
    return [
        Group("status", status.value, status.label, (status.value,), totals.get((status.value,), 0), status)
        for status in Status
    ]


def _priorities(totals: Mapping[tuple[Any, ...], int]) -> list[Group]:
    return [
        Group(
            "priority",
            priority.slug,
            priority.label if priority is not Priority.NONE else "No priority",
            (priority.value,),
            totals.get((priority.value,), 0),
            priority,
        )
        for priority in Priority
    ]


def _assignees(totals: Mapping[tuple[Any, ...], int], names: Names) -> list[Group]:
    """Those who are present or still have issues, and nobody."""
    people, agents = (sorted(some.values(), key=lambda one: one.name.lower()) for some in (names.members, names.agents))
    groups = [
        Group("assignee", one.value, one.name, has, totals.get(has, 0), one)
        for one in (*people, *agents)
        if (has := (one.id, None) if one.is_agent else (None, one.id)) in totals or one.is_present
    ]
    return [*groups, Group("assignee", "none", "Nobody", (None, None), totals.get((None, None), 0))]


def _projects(totals: Mapping[tuple[Any, ...], int], projects: Iterable[Project]) -> list[Group]:
    """Those that stand or still have issues here, and none."""
    groups = [
        Group("project", str(one.pk), one.name, (one.pk,), totals.get((one.pk,), 0))
        for one in projects
        if one.archived_at is None or (one.pk,) in totals
    ]
    return [*groups, Group("project", "none", "No project", (None,), totals.get((None,), 0))]
