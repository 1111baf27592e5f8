"""/priority: say how urgent an issue is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import read_priority, split_target
    from issues.models import Priority

    word, issue = split_target(scene, action.args)
    return Request(
        {"issue": issue.pk, "priority": read_priority(word).slug},
        before={"priority": Priority(issue.priority).slug},
    )


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id
    from issues.models import Priority
    from issues.services.issues import set_priority

    slug = request.values["priority"]
    issue = set_priority(
        actor=scene.actor,
        issue=issue_by_id(scene, request.values["issue"]),
        priority=Priority.from_slug(slug),
    )
    return Effect(
        f"{issue.identifier} has priority {slug}.",
        before=request.before,
        after={"priority": slug},
        issue=issue,
    )


VERB = Verb(
    name="priority",
    right=Right.PRIORITY,
    usage="/priority <priority> [on ACME-7]",
    summary="urgent, high, medium, low or none",
    example="/priority high",
    argument=ArgumentRule.REQUIRED,
    overwrites="issue.priority",
    resolve=resolve,
    carry_out=carry_out,
)
