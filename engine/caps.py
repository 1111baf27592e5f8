"""Caps of a run for what its agent does by plain calls: each is a use of the verb that does the same, whichever door it
came by."""

from __future__ import annotations

from collections import Counter

from django.db.models import Count, Q

from agents.models import Run
from engine.verbs.registry import BY_NAME
from issues.actors import Actor, Worker
from issues.models import Activity, ApprovalKind, Company
from issues.refusals import Forbidden


def check_cap(actor: Actor, verb: str) -> None:
    """Forbidden when the agent's run has used the verb as often as it may. People have no caps."""
    if not isinstance(actor, Worker) or actor.run is None:
        return
    cap = cap_of(actor.agent.company, verb)
    if cap is not None and uses(actor.run)[verb] >= cap:
        raise Forbidden(f"More than {cap} of /{verb} in one run.")


def cap_of(company: Company, verb: str) -> int | None:
    """How often a run may use the verb: by the company's word, else by the verb's own; None: as often as it likes."""
    cap: int | None = company.action_caps.get(verb, BY_NAME[verb].cap)
    return cap


def uses(run: Run) -> Counter[str]:
    """How often the run did what a plain call can do as well, by its lines of activity."""
    marks = {
        "create-issue": Q(kind="issue.created"),
        "assign": Q(kind="issue.assigned"),
        "comment-on": Q(kind="comment.written") & ~Q(issue=run.issue_id),
        "request-approval": Q(kind="approval.requested", data__about=ApprovalKind.REQUEST),
        "ask": Q(kind="approval.requested", data__about=ApprovalKind.QUESTION),
    }
    counts = {verb.replace("-", "_"): Count("pk", filter=mark) for verb, mark in marks.items()}
    found = Activity.objects.filter(run=run).aggregate(**counts)
    return Counter({verb: found[verb.replace("-", "_")] for verb in marks})
