"""/review: judge work in review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import read_choice
    from issues.models import Verdict

    words = {"accept": Verdict.ACCEPT, "sendback": Verdict.SEND_BACK}
    verdict = read_choice(action.args, words, "verdict", [word.value for word in words.values()])
    return Request({"verdict": verdict.value, "note": action.body or ""}, before={"status": scene.issue.status})


def carry_out(scene: Scene, request: Request) -> Effect:
    from issues.models import Verdict
    from issues.services.reviews import give_verdict

    verdict = Verdict(request.values["verdict"])
    issue = give_verdict(actor=scene.actor, issue=scene.issue, verdict=verdict, note=request.values["note"])
    return Effect(
        f"{verdict.label}; {issue.identifier} is {issue.get_status_display().lower()}.",
        before=request.before,
        after={"status": issue.status, "verdict": verdict},
        issue=issue,
    )


VERB = Verb(
    name="review",
    right=Right.REVIEW,
    usage="/review <accept or send-back>",
    summary="your verdict as a reviewer of an issue in review; a fenced block may hold a note",
    example="/review send-back\n```\nThe second test does not fail without the change.\n```",
    argument=ArgumentRule.REQUIRED,
    body=BodyRule.OPTIONAL,
    resolve=resolve,
    carry_out=carry_out,
)
