"""Writing the audit: one line a change, in the transaction of the change."""

from __future__ import annotations

from typing import Any

from issues.actors import Actor, Person, Worker
from issues.effects import tell_outside
from issues.models import Activity, ActorKind, Company, Issue
from issues.traces import trace_line


def record(actor: Actor, kind: str, target: Issue | Company, **data: Any) -> Activity:
    """Append a line. `data` is plain JSON: ids and small values, never a text."""
    issue = target if isinstance(target, Issue) else None
    company = target.company if isinstance(target, Issue) else target
    line = Activity(company=company, issue=issue, kind=kind, data=data, actor_kind=ActorKind.SYSTEM)
    if isinstance(actor, Person):
        member = actor.member_in(company)
        if member is not None:
            line.actor_kind = ActorKind.USER
            line.member = member
    elif isinstance(actor, Worker):
        line.actor_kind = ActorKind.AGENT
        line.agent = actor.agent
        line.run = actor.run
    line.save(force_insert=True)
    trace_line(line.pk)
    if kind.partition(".")[0] in company.webhook_kinds:
        tell_outside(line)
    return line
