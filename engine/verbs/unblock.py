"""/unblock: let the issue wait no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import find_issues
    from issues.refusals import Invalid

    blockers = find_issues(scene, action.args)
    present = set(scene.issue.blocker_links.values_list("blocker_id", flat=True))
    for blocker in blockers:
        if blocker.pk not in present:
            raise Invalid(f"{blocker.identifier} does not block {scene.issue.identifier}.", field="issue")
    return Request({"blockers": [blocker.pk for blocker in blockers]})


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id
    from issues.services.blockers import remove_blockers

    blockers = [issue_by_id(scene, pk) for pk in request.values["blockers"]]
    issue = remove_blockers(actor=scene.actor, issue=scene.issue, blockers=blockers)
    names = ", ".join(blocker.identifier for blocker in blockers)
    return Effect(
        f"{issue.identifier} no longer waits for {names}.",
        before={"blockers": request.values["blockers"]},
        issue=issue,
    )


VERB = Verb(
    name="unblock",
    right=Right.UNBLOCK,
    usage="/unblock <ACME-7, ACME-8>",
    summary="wait for these issues no longer",
    example="/unblock ACME-7",
    argument=ArgumentRule.REQUIRED,
    overwrites="issue.blockers",
    resolve=resolve,
    carry_out=carry_out,
)
