"""/pass: nothing to do now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(_scene: Scene, action: Action) -> Request:
    return Request({"reason": action.args})


def carry_out(scene: Scene, request: Request) -> Effect:
    from issues.activity import record
    from issues.policies import Right, require

    require(scene.worker, Right.PASS, scene.issue)
    record(scene.worker, "run.passed", scene.issue)
    return Effect(f"Nothing to do now: {request.values['reason']}", issue=scene.issue)


VERB = Verb(
    name="pass",
    right=Right.PASS,
    usage="/pass <reason>",
    summary="nothing to do now, and why; a good answer when it is true",
    example="/pass ACME-7 is still open.",
    argument=ArgumentRule.REQUIRED,
    is_change=False,
    resolve=resolve,
    carry_out=carry_out,
)
