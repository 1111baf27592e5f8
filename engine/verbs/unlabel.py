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
    from engine.verbs.resolve import nearest, read_names, split_target
    from issues.refusals import Invalid
    from issues.texts import fold

    text, issue = split_target(scene, action.args)
    present = {fold(name): name for name in issue.labels.values_list("name", flat=True)}
    names = read_names(text)
    for name in names:
        if fold(name) not in present:
            raise Invalid(f"{issue.identifier} has no label “{name}”.", nearest(name, present.values()), field="labels")
    return Request({"issue": issue.pk, "labels": [present[fold(name)] for name in names]})


def carry_out(scene: Scene, request: Request) -> Effect:
    from engine.verbs.resolve import issue_by_id
    from issues.services.projects import remove_labels

    names = request.values["labels"]
    labels = list(scene.company.labels.filter(name__in=names))
    issue = remove_labels(actor=scene.actor, issue=issue_by_id(scene, request.values["issue"]), labels=labels)
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
