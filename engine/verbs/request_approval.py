"""/request-approval: ask the board before doing something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from issues.texts import check_line

    return Request({"title": check_line(action.args, "title", limit=300), "explanation": scene.prose})


def carry_out(scene: Scene, request: Request) -> Effect:
    from issues.services.approvals import request_approval

    approval = request_approval(
        actor=scene.actor,
        issue=scene.issue,
        title=request.values["title"],
        explanation=request.values["explanation"],
    )
    return Effect("The board is asked.", after={"approval": approval.pk}, issue=scene.issue, approval=approval)


VERB = Verb(
    name="request-approval",
    right=Right.REQUEST_APPROVAL,
    usage="/request-approval <title>",
    summary="ask the board before acting; your prose is the explanation, and you are woken by the answer",
    example="Deleting the bucket cannot be undone.\n\n/request-approval Delete the staging bucket",
    argument=ArgumentRule.REQUIRED,
    core=True,
    cap=3,
    resolve=resolve,
    carry_out=carry_out,
)
