"""/blocked-by: let the issue wait for others."""

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

    return Request({"blockers": [blocker.pk for blocker in find_issues(scene, action.args)]})


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id
    from issues.services.blockers import add_blockers

    blockers = [issue_by_id(scene, pk) for pk in request.values["blockers"]]
    issue = add_blockers(actor=scene.actor, issue=scene.issue, blockers=blockers)
    names = ", ".join(blocker.identifier for blocker in blockers)
    return Effect(f"{issue.identifier} waits for {names}.", after={"blockers": request.values["blockers"]}, issue=issue)


VERB = Verb(
    name="blocked-by",
    right=Right.BLOCKED_BY,
    usage="/blocked-by <ACME-7, ACME-8>",
    summary="wait for issues; you are woken when the last one ends",
    example="/blocked-by ACME-7",
    argument=ArgumentRule.REQUIRED,
    core=True,
    overwrites="issue.blockers",
    resolve=resolve,
    carry_out=carry_out,
)
