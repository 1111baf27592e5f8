"""/record-finding: keep a result on the issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(_scene: Scene, action: Action) -> Request:
    return Request({"title": action.args, "body": action.body or ""})


def carry_out(scene: Scene, request: Request) -> Effect:
    from issues.services.findings import record_finding

    finding = record_finding(
        actor=scene.worker, issue=scene.issue, title=request.values["title"], body=request.values["body"]
    )
    return Effect("The finding is recorded.", after={"finding": finding.pk}, issue=scene.issue)


VERB = Verb(
    name="record-finding",
    right=Right.RECORD_FINDING,
    usage="/record-finding [title]",
    summary="keep a result on the issue; the fenced block is the finding, shown to the parent's agent",
    example="/record-finding The cache is cold\n```\nHit rate is 3% after every deploy.\n```",
    argument=ArgumentRule.OPTIONAL,
    body=BodyRule.REQUIRED,
    core=True,
    cap=10,
    resolve=resolve,
    carry_out=carry_out,
)
