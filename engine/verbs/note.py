"""/note: keep a working note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(_scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import unquoted

    return Request({"key": unquoted(action.args), "text": action.body or ""})


def carry_out(scene: Scene, request: Request) -> Effect:
    from agents.services.notebook import write_note

    note = write_note(actor=scene.worker, issue=scene.issue, key=request.values["key"], text=request.values["text"])
    return Effect(f"The note “{note.key}” is kept.", after={"note": note.pk})


VERB = Verb(
    name="note",
    right=Right.NOTE,
    usage="/note <key>",
    summary="keep a note for your later runs; the same key overwrites",
    example="/note plan\n```\nFirst the export, then the import.\n```",
    details="At most 20 notes of 2,000 characters; the oldest gives way. Only you see them, in every prompt of yours.",
    argument=ArgumentRule.REQUIRED,
    body=BodyRule.REQUIRED,
    is_change=False,
    resolve=resolve,
    carry_out=carry_out,
)
