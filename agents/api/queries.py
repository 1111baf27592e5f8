"""Which runs or wakeups a list holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework import serializers

from issues.rest.references import agent_named, issue_named
from issues.rest.scope import Scope
from issues.rest.views import CompanyQuery

Row = TypeVar("Row", bound=Model)


class WorkQuery(CompanyQuery):
    """Of an agent, on an issue."""

    agent = serializers.CharField(required=False, help_text="A handle.")
    issue = serializers.CharField(required=False, help_text="An identifier.")


def selected(rows: QuerySet[Row], scope: Scope, query: Mapping[str, Any]) -> QuerySet[Row]:
    """Those of the company that fit all that the query names: agent, issue, states."""
    rows = rows.filter(company=scope.company)
    if "agent" in query:
        rows = rows.filter(agent=agent_named(scope, query["agent"], "agent"))
    if "issue" in query:
        rows = rows.filter(issue=issue_named(scope, query["issue"], "issue"))
    return rows.filter(state__in=query["state"]) if "state" in query else rows
