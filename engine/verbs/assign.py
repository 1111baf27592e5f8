"""/assign: hand an issue over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import find_somebody, refer, split_target

    word, issue = split_target(scene, action.args)
    return Request(
        {"issue": issue.pk, "assignee": refer(find_somebody(scene, word))},
        before={"assignee": refer(issue.assignee_agent or issue.assignee_member)},
    )


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id, referred
    from issues.services.issues import assign_issue

    assignee = referred(scene, request.values["assignee"])
    issue = assign_issue(actor=scene.actor, issue=issue_by_id(scene, request.values["issue"]), assignee=assignee)
    words = f"to @{assignee.handle}" if assignee is not None else "to nobody"
    return Effect(
        f"{issue.identifier} is assigned {words}.",
        before=request.before,
        after={"assignee": request.values["assignee"]},
        issue=issue,
    )


VERB = Verb(
    name="assign",
    right=Right.ASSIGN,
    usage="/assign <@handle or none> [on ACME-7]",
    summary="hand the issue over; an agent is woken by it",
    example="/assign @ada",
    details="Also by name, `me` or `none`. Say in prose why, and what the new assignee needs to know.",
    argument=ArgumentRule.REQUIRED,
    core=True,
    cap=5,
    overwrites="issue.assigned",
    resolve=resolve,
    carry_out=carry_out,
)
