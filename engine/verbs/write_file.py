"""/write-file: write a file of the issue's workspace."""

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
    from issues.paths import check_path
    from issues.refusals import Forbidden, Invalid

    try:
        return Request({"path": check_path(unquoted(action.args)), "text": action.body or ""})
    except Invalid as refusal:  # a try to leave the workspace is no mistake in writing
        raise Forbidden(refusal.reason, refusal.hint) from None


def carry_out(scene: Scene, request: Request) -> Effect:
    from issues.refusals import Forbidden, TooLarge
    from issues.services.files import write_file

    path = request.values["path"]
    try:
        version = write_file(actor=scene.worker, issue=scene.issue, path=path, text=request.values["text"])
    except TooLarge as refusal:
        raise Forbidden(refusal.reason, refusal.hint) from None
    return Effect(
        f"{path} is at version {version.number}.",
        before={"version": version.number - 1},
        after={"version": version.number, "bytes": version.blob.size},
        issue=scene.issue,
    )


VERB = Verb(
    name="write-file",
    right=Right.WRITE_FILE,
    usage="/write-file <path>",
    summary="write a file; the fenced block is its whole content",
    example="/write-file docs/plan.md\n```\n# Plan\n```",
    details="The path is relative to the issue's workspace; absolute paths and `..` are refused, 4 MiB fit.",
    argument=ArgumentRule.REQUIRED,
    body=BodyRule.REQUIRED,
    core=True,
    cap=20,
    resolve=resolve,
    carry_out=carry_out,
)
