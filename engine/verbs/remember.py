"""/remember: keep an observation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(_scene: Scene, action: Action) -> Request:
    return Request({"text": action.args})


def carry_out(scene: Scene, request: Request) -> Effect:
    from agents.services.notebook import remember

    observation = remember(actor=scene.worker, issue=scene.issue, text=request.values["text"])
    return Effect("The observation is kept.", after={"observation": observation.pk})


VERB = Verb(
    name="remember",
    right=Right.REMEMBER,
    usage="/remember <text>",
    summary="keep an observation; you are shown it where it fits",
    example="/remember Exports break on quotation marks.",
    details="On one line, at most 1,000 characters. The newest 500 are kept.",
    argument=ArgumentRule.REQUIRED,
    is_change=False,
    resolve=resolve,
    carry_out=carry_out,
)
