"""What a decision of the board makes of the actions that waited for it."""

from __future__ import annotations

from collections import Counter

from agents.models import ActionOutcome, RunAction
from agents.services.agents import worker_for
from issues.activity import record
from issues.models import Approval, ApprovalStatus

REASON_CHARACTERS = 500

_WAITED = (ActionOutcome.APPROVAL, ActionOutcome.DENIED)


def write_verdict(approval: Approval) -> None:
    """Write down why the approval's actions were not done, or that they wait again. Those that were carried out have
    been marked by whoever did. Part of the transaction in which the approval ended."""
    outcome, reason = _verdict(approval)
    actions = list(
        RunAction.objects.select_related("run__agent", "run__issue").filter(approval=approval, outcome__in=_WAITED)
    )
    for action in actions:
        action.outcome, action.reason = outcome, reason[:REASON_CHARACTERS]
    RunAction.objects.bulk_update(actions, ["outcome", "reason"])
    if outcome is ActionOutcome.FAILED:
        _tell(approval, actions)


def _verdict(approval: Approval) -> tuple[ActionOutcome, str]:
    """The outcome of what waited for the approval, with the reason, in the person's words if they gave any."""
    match ApprovalStatus(approval.status):
        case ApprovalStatus.PENDING:
            return ActionOutcome.APPROVAL, "It waits for the board again."
        case ApprovalStatus.CANCELLED:
            return ActionOutcome.DENIED, "The issue was closed before the board decided."
        case ApprovalStatus.APPROVED:
            return ActionOutcome.FAILED, f"Approved, but it could not be carried out. {approval.failure}"
        case status:
            did = "sent it back" if status is ApprovalStatus.SENT_BACK else "refused it"
            said = f": {approval.note}" if approval.note else "."
            return ActionOutcome.DENIED, f"{approval.decided_by} {did}{said}"


def _tell(approval: Approval, actions: list[RunAction]) -> None:
    """That it failed stands in the issue's timeline: the line of the decision says only that there was one."""
    tried = Counter(action.verb for action in actions)
    for action in {action.verb: action for action in actions}.values():
        record(
            worker_for(action.run.agent, action.run),
            "action.refused",
            approval.issue,
            run=action.run_id,
            verb=action.verb,
            outcome=ActionOutcome.FAILED,
            count=tried[action.verb],
        )
