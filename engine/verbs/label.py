"""/label: sort an issue under labels."""

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
    if missing and not scene.company.agents_may_create_labels:
        names = [label.name for label in scene.company.labels.all()]
        raise Invalid(
            f"There is no label “{missing[0]}”, and agents may not make labels here.",
            nearest(missing[0], names),
            field="labels",
        )
    return Request({"issue": issue.pk, "labels": [label.name for label in found] + missing})


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import find_labels, issue_by_id
    from issues.services.projects import add_labels, create_label

    names = request.values["labels"]
    found, missing = find_labels(scene, names)
    made = [create_label(actor=scene.actor, company=scene.company, name=name) for name in missing]
    issue = add_labels(actor=scene.actor, issue=issue_by_id(scene, request.values["issue"]), labels=[*found, *made])
    return Effect(f"{issue.identifier} is labelled {', '.join(names)}.", after={"labels": names}, issue=issue)


VERB = Verb(
    name="label",
    right=Right.LABEL,
    usage="/label <name, name> [on ACME-7]",
    summary="add labels",
    example="/label backend, bug",
    argument=ArgumentRule.REQUIRED,
    overwrites="issue.labels",
    resolve=resolve,
    carry_out=carry_out,
)
