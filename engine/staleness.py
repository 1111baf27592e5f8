"""Wakeups that time has overtaken: at the claim they end without a run, and say why."""

from __future__ import annotations

from agents.models import Wakeup, WakeupSource
from issues.models import Activity, ActorKind, Issue
from issues.services.transitions import outstanding_reviewers

_FOR_WORKABLE = (WakeupSource.ASSIGNED, WakeupSource.SCHEDULE, WakeupSource.ROUTINE, WakeupSource.CONTINUE)
_FOR_ASSIGNEE = (*_FOR_WORKABLE, WakeupSource.COMMENTED, WakeupSource.BLOCKER_RESOLVED, WakeupSource.CHILD_CLOSED)


def why_stale(wakeup: Wakeup, issue: Issue) -> str:
    """Why this wakeup makes no sense on the issue any more; empty if it does. Mentions and what a person asked for
    always do."""
    source = WakeupSource(wakeup.source)
    if source is WakeupSource.CREATED:
        assigned = issue.assignee_agent_id is not None or issue.assignee_member_id is not None
        return "The issue has an assignee by now." if assigned else _why_closed(issue)
    if source in _FOR_WORKABLE and not issue.is_workable:
        return f"The issue is {issue.get_status_display().lower()} by now."
    if source in _FOR_ASSIGNEE:
        if issue.assignee_agent_id != wakeup.agent_id:
            return "The issue is assigned to somebody else by now."
        return _why_closed(issue)
    if source is WakeupSource.REVIEW_REQUESTED:
        reviewing = any(reviewer.agent_id == wakeup.agent_id for reviewer in outstanding_reviewers(issue))
        return "" if reviewing and issue.status == "in_review" else "No verdict of this agent is outstanding."
    return ""


def _why_closed(issue: Issue) -> str:
    if not issue.is_closed:
        return ""
    last = Activity.objects.filter(issue=issue, kind__in=("issue.status", "issue.created")).order_by("-pk").first()
    by_person = last is not None and last.actor_kind == ActorKind.USER
    return "A person closed the issue." if by_person else ""
