"""/forget: take a note out of the notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from agents.services.notebook import find_note
    from engine.verbs.resolve import nearest, unquoted
    from issues.refusals import Invalid

    key = unquoted(action.args)
    try:
        note = find_note(scene.worker.agent, key)
    except Invalid as refusal:
        hint = nearest(key, scene.worker.agent.notes.values_list("key", flat=True))
        raise Invalid(refusal.reason, hint, field="key") from None
    return Request({"key": note.key})


def carry_out(scene: Scene, request: Request) -> Effect:
    from agents.services.notebook import forget_note

    forget_note(actor=scene.worker, issue=scene.issue, key=request.values["key"])
    return Effect(f"The note “{request.values['key']}” is gone.")


VERB = Verb(
    name="forget",
    right=Right.FORGET,
    usage="/forget <key>",
    summary="drop a note",
    example="/forget plan",
    argument=ArgumentRule.REQUIRED,
    is_change=False,
    resolve=resolve,
    carry_out=carry_out,
)
