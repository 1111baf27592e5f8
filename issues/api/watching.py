"""Who follows an issue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from issues.keysets import OLDEST_FIRST
from issues.models import Watch
from issues.rest.paging import Page
from issues.rest.scope import issue_in_scope
from issues.rest.shapes import Shape, SomebodyField, StampField
from issues.rest.views import PageQuery, Resource, operation
from issues.services.watching import unwatch_issue, watch_issue

TAG = "Issues"


class WatcherShape(Shape):
    """A member who is told that the issue is in review or done."""

    member = SomebodyField("member")
    since = StampField(source="created_at")


class Watchers(Resource):
    @operation("List watchers", tag=TAG, query=PageQuery, answer=WatcherShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Watch]:
        """Those who follow the issue: they said so, commented, or were named."""
        _, issue = issue_in_scope(self.actor, identifier)
        return self.page(issue.watches.select_related("member__user"), OLDEST_FIRST, query)

    @operation("Follow an issue", tag=TAG)
    def post(self, *, identifier: str) -> None:
        """The caller, viewers too. Twice is once. Agents follow nothing: they are woken."""
        scope, issue = issue_in_scope(self.actor, identifier)
        watch_issue(actor=scope.actor, issue=issue)

    @operation("Follow an issue no longer", tag=TAG)
    def delete(self, *, identifier: str) -> None:
        """The caller, until they comment on it or are named there again."""
        scope, issue = issue_in_scope(self.actor, identifier)
        unwatch_issue(actor=scope.actor, issue=issue)
