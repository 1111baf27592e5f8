"""/ask: put a question to the issue's responsible person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene

MOST_CHOICES = 12


def resolve(_scene: Scene, action: Action) -> Request:
    from issues.refusals import Invalid
    from issues.texts import check_line

    choices = [line.strip().removeprefix("- ") for line in (action.body or "").split("\n") if line.strip()]
    if len(choices) > MOST_CHOICES:
        raise Invalid(f"A question has at most {MOST_CHOICES} choices.", field="choices")
    return Request({"question": check_line(action.args, "question", limit=300), "choices": choices})


def carry_out(scene: Scene, request: Request) -> Effect:
    from issues.services.approvals import ask_question

    approval = ask_question(
        actor=scene.actor,
        issue=scene.issue,
        question=request.values["question"],
        choices=request.values["choices"],
    )
    return Effect(
        f"@{scene.issue.responsible.handle} is asked.",
        after={"approval": approval.pk},
        issue=scene.issue,
        approval=approval,
    )


VERB = Verb(
    name="ask",
    right=Right.ASK,
    usage="/ask <question>",
    summary="ask the responsible person for a fact or decision; a fenced block may list choices, one a line",
    example="/ask Which region shall it run in?\n```\neu-central\nus-east\n```",
    argument=ArgumentRule.REQUIRED,
    body=BodyRule.OPTIONAL,
    cap=3,
    resolve=resolve,
    carry_out=carry_out,
)
