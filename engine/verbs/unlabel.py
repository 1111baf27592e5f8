"""/unlabel: take labels off an issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import find_labels, nearest, read_names, split_target
    from issues.refusals import Invalid

    text, issue = split_target(scene, action.args)
    found, missing = find_labels(scene, read_names(text))
    if missing:
        hint = nearest(missing[0], [label.name for label in issue.labels.all()])
        raise Invalid(f"There is no label “{missing[0]}”.", hint, field="labels")
    return Request({"issue": issue.pk, "labels": [label.name for label in found]})


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import find_labels, issue_by_id
    from issues.services.projects import remove_labels

    names = request.values["labels"]
    found, _ = find_labels(scene, names)
    issue = remove_labels(actor=scene.actor, issue=issue_by_id(scene, request.values["issue"]), labels=found)
    return Effect(
        f"{issue.identifier} is no longer labelled {', '.join(names)}.",
        before={"labels": names},
        issue=issue,
    )


VERB = Verb(
    name="unlabel",
    right=Right.UNLABEL,
    usage="/unlabel <name, name> [on ACME-7]",
    summary="remove labels",
    example="/unlabel triage",
    argument=ArgumentRule.REQUIRED,
    overwrites="issue.labels",
    resolve=resolve,
    carry_out=carry_out,
)
