"""What policy sends to the board: the exact actions of a reply, kept until a person decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.text.types import Action
from engine.verbs.base import Request
from engine.verbs.registry import BY_NAME
from engine.verbs.resolve import NamesProposed
from engine.verbs.scene import Scene
from issues.models import Approval
from issues.refusals import NeedsApproval
from issues.services.approvals import propose_action

TITLE_WORDS = 200
"""Characters of the actions that an approval's title shows; the whole of them stands below it."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An action that waits for the board. `request` is None where its words name an issue that waits as well."""

    ordinal: int
    action: Action
    request: Request | None
    refusal: NeedsApproval


def group(proposals: Iterable[Proposal]) -> list[list[Proposal]]:
    """Those that are decided together. The issues that a reply makes belong together, with whatever names them: a yes
    to half of a plan is none. Every other action is decided by itself."""
    plan: list[Proposal] = []
    alone: list[list[Proposal]] = []
    for proposal in proposals:
        if BY_NAME[proposal.action.verb].makes_issues or isinstance(proposal.refusal, NamesProposed):
            plan.append(proposal)
        else:
            alone.append([proposal])
    return [plan, *alone] if plan else alone


def ask_board(scene: Scene, proposals: Sequence[Proposal]) -> Approval:
    """One pending approval of these actions, in the order in which they would be carried out. Raises a Refusal where
    nothing can be asked."""
    lines = [f"/{proposal.action.verb} {proposal.action.args}".rstrip() for proposal in proposals]
    title = lines[0] if len(lines) == 1 else f"{len(lines)} actions: {'; '.join(lines)}"
    return propose_action(
        actor=scene.worker,
        issue=scene.issue,
        title=title[:TITLE_WORDS],
        payload={"run": scene.own_run.pk, "actions": [_to_json(proposal) for proposal in proposals]},
        explanation=scene.prose,
    )


def _to_json(proposal: Proposal) -> dict[str, Any]:
    """The action as it was written and as it was understood."""
    action, request = proposal.action, proposal.request
    return {
        "ordinal": proposal.ordinal,
        "verb": action.verb,
        "args": action.args,
        "body": action.body,
        "permission": str(proposal.refusal.permission),
        "values": dict(request.values) if request is not None else None,
        "before": dict(request.before) if request is not None else None,
    }
