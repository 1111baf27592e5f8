"""/status: move an issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import read_status, split_target

    word, issue = split_target(scene, action.args)
    return Request({"issue": issue.pk, "status": read_status(word)}, before={"status": issue.status})


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id
    from issues.models import Status
    from issues.services.issues import set_status

    before = issue_by_id(scene, request.values["issue"])
    wanted = Status(request.values["status"])
    issue = set_status(actor=scene.actor, issue=before, status=wanted)
    reached = Status(issue.status)
    words = f"{issue.identifier} is {reached.label.lower()}"
    if reached is not wanted:
        words += f", since its reviewers come before {wanted.label.lower()}"
    return Effect(words + ".", before=request.before, after={"status": reached}, issue=issue)


VERB = Verb(
    name="status",
    right=Right.STATUS,
    usage="/status <status> [on ACME-7]",
    summary="set the status: backlog, todo, in_progress, in_review, blocked, done, cancelled",
    example="/status in_review",
    details="`done` needs a word of yours on what was done, and no open child issue, request or question.",
    argument=ArgumentRule.REQUIRED,
    core=True,
    overwrites="issue.status",
    resolve=resolve,
    carry_out=carry_out,
)
