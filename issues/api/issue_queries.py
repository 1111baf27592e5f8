"""Which issues a list holds, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet
from rest_framework import serializers

from issues.api.issue_shapes import issue_rows
from issues.keysets import NEWEST_FIRST, Order
from issues.models import Issue, Member, Status
from issues.models.issue import CLOSED
from issues.rest.references import issue_named, labels_named, project_named, somebody_named
from issues.rest.scope import Scope
from issues.rest.shapes import CommaField, PriorityField
from issues.rest.views import CompanyQuery
from issues.search import matching

NONE = "none"

ORDERS = {
    "work": Order(("priority", "rank", "number")),
    "number": Order(("number",)),
    "updated": Order(("updated_at", "id"), falling=True),
    "created": NEWEST_FIRST,
}


class IssueQuery(CompanyQuery):
    """Which issues of the company, in which order."""

    status = CommaField(
        child=serializers.ChoiceField(choices=[*Status.values, "open", "closed"]),
        required=False,
        help_text="Also `open` and `closed`.",
    )
    assignee = serializers.CharField(required=False, help_text="A handle, `me` or `none`.")
    label = CommaField(  # type: ignore[assignment] # a field, which the framework takes off the class
        child=serializers.CharField(), required=False, help_text="Has all of these labels."
    )
    priority = CommaField(child=PriorityField(), required=False)
    project = serializers.CharField(required=False, help_text="A name, or `none`.")
    parent = serializers.CharField(  # type: ignore[assignment] # the same
        required=False, help_text="An identifier, or `none` for the top level."
    )
    text = serializers.CharField(required=False, max_length=200, help_text="Words of title, description or a comment.")
    updated_since = serializers.DateTimeField(required=False)
    order = serializers.ChoiceField(
        choices=list(ORDERS),
        required=False,
        default="work",
        help_text="work: by priority, rank and number. updated, created: newest first.",
    )


def filtered(scope: Scope, query: Mapping[str, Any]) -> QuerySet[Issue]:
    """The company's issues that fit everything in the query."""
    rows = issue_rows(scope.company)
    if "status" in query:
        rows = rows.filter(status__in=_statuses(query["status"]))
    if "priority" in query:
        rows = rows.filter(priority__in=query["priority"])
    if "updated_since" in query:
        rows = rows.filter(updated_at__gte=query["updated_since"])
    if "assignee" in query:
        rows = rows.filter(_assigned_to(scope, query["assignee"]))
    if "project" in query:
        name = query["project"]
        rows = rows.filter(project=None if name.lower() == NONE else project_named(scope.company, name))
    if "parent" in query:
        rows = rows.filter(parent=issue_named(scope, query["parent"], "parent"))
    for label in labels_named(scope.company, query.get("label", ()), "label"):
        rows = rows.filter(pk__in=label.issues.values("pk"))
    return matching(rows, scope.company, query["text"]) if "text" in query else rows


def _statuses(words: list[str]) -> set[str]:
    """The statuses of the words, where `open` and `closed` stand for several."""
    groups = {"closed": set(CLOSED), "open": set(Status) - set(CLOSED)}
    return {status for word in words for status in groups.get(word, {word})}


def _assigned_to(scope: Scope, word: str) -> Q:
    found = somebody_named(scope, word, "assignee")
    if found is None:
        return Q(assignee_agent=None, assignee_member=None)
    return Q(assignee_member=found) if isinstance(found, Member) else Q(assignee_agent=found)
