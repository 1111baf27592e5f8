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
    from engine.verbs.resolve import read_labels, split_target

    text, issue = split_target(scene, action.args)
    return Request({"issue": issue.pk, "labels": read_labels(scene, text)})


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id, labels_named
    from issues.services.projects import add_labels

    names = request.values["labels"]
    issue = issue_by_id(scene, request.values["issue"])
    issue = add_labels(actor=scene.actor, issue=issue, labels=labels_named(scene, names))
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
