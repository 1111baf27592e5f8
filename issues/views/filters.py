"""The bar above board and list: what can be filtered, arranged and kept, and what is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from issues.models import Label, Priority, Project, Status
from issues.names import Names
from issues.pages import Visit
from issues.views.cards import SORTS
from issues.views.saved import offered_views
from issues.views.selection import DUE, ONLY, PERIODS, Selection

ASSIGNEES = {"me": "Me", "agents": "Any agent", "people": "Any person", "none": "Nobody"}
PRIORITIES = {priority.slug: priority.label for priority in Priority}
STATUSES = {"open": "All open", "closed": "All closed"} | {status.value: status.label for status in Status}


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that is set, in words, and the query of the address without it."""

    words: str
    without: str


def offer_filters(
    visit: Visit, names: Names, projects: Iterable[Project], selection: Selection, page: str
) -> dict[str, Any]:
    """What the bar needs. In two queries beside those of the names."""
    labels = {str(label.pk): label.name for label in Label.objects.filter(company=visit.company).order_by("name")}
    standing = {str(project.pk): project.name for project in projects if project.archived_at is None}
    groupings = {"assignee": "Group by assignee", "priority": "Group by priority", "project": "Group by project"}
    views = offered_views(visit, page=page, selection=selection)
    return {
        "page_name": page,
        "saved_views": views,
        "replaceable": [one for one in views if one.is_own and not one.is_current and one.view.page == page],
        "names": names,
        "statuses": STATUSES,
        "priorities": PRIORITIES,
        "assignees": ASSIGNEES,
        "labels": labels,
        "projects": {"none": "No project"} | standing if standing else {},
        "due_choices": DUE,
        "periods": PERIODS,
        "only_choices": ONLY,
        "groupings": groupings if page == "board" else groupings | {"none": "One list"},
        "sorts": {word: f"Sort by {name}" for word, (name, _) in SORTS.items() if word},
        "arranged": replace(selection, **dict.fromkeys(selection.filters, "")).query,
        "chips": list(_chips(selection, names, labels, projects)),
        "has_more": bool(selection.parent or selection.due or selection.opened or selection.changed),
    }


def _chips(selection: Selection, names: Names, labels: dict[str, str], projects: Iterable[Project]) -> Iterable[Chip]:
    everybody = {one.value: one.name for one in (*names.agents.values(), *names.members.values())}
    known: dict[str, tuple[str, dict[str, str]]] = {
        "status": ("Status", STATUSES),
        "priority": ("Priority", PRIORITIES),
        "assignee": ("Assignee", ASSIGNEES | everybody),
        "label": ("Label", labels),
        "project": ("Project", {"none": "None"} | {str(project.pk): project.name for project in projects}),
        "parent": ("Parent", {"none": "None"}),
        "due": ("Due", DUE),
        "opened": ("Opened", PERIODS),
        "changed": ("Changed", PERIODS),
        "only": ("", ONLY),
        "text": ("Words", {}),
    }
    for name, value in selection.filters.items():
        title, choices = known[name]
        words = choices.get(value, value)
        yield Chip(f"{title}: {words}" if title else words, replace(selection, **{name: ""}).query)
