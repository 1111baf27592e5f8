"""/comment-on: write on another issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import find_issue

    return Request({"issue": find_issue(scene, action.args).pk, "body": action.body or ""})


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id
    from issues.services.comments import write_comment

    issue = issue_by_id(scene, request.values["issue"])
    comment = write_comment(actor=scene.actor, issue=issue, body=request.values["body"])
    return Effect(f"Commented on {issue.identifier}.", after={"comment": comment.pk}, issue=issue)


VERB = Verb(
    name="comment-on",
    right=Right.COMMENT,
    usage="/comment-on <ACME-7>",
    summary="comment on another issue; the fenced block is the comment",
    example="/comment-on ACME-7\n```\nThe interface you wait for has landed.\n```",
    argument=ArgumentRule.REQUIRED,
    body=BodyRule.REQUIRED,
    cap=5,
    is_change=False,
    resolve=resolve,
    carry_out=carry_out,
)
