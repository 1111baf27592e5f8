"""/help: ask how a verb works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from engine.allowed import allowed_verbs
    from engine.verbs.resolve import bare, nearest
    from issues.refusals import Invalid

    word = bare(action.args).removeprefix("/").lower()
    names = [card.name for card in allowed_verbs(scene.worker, scene.issue).actions.cards]
    if word not in names:
        raise Invalid(f"You have no verb /{word}.", nearest(word, names) or f"You have: {', '.join(names)}.")
    return Request({"verb": word})


def carry_out(scene: Scene, request: Request) -> Effect:
    from issues.activity import record
    from issues.policies import require

    require(scene.worker, Right.HELP, scene.issue)
    record(scene.worker, "help.asked", scene.issue, verb=request.values["verb"])
    verb = request.values["verb"]
    return Effect(f"/{verb} will be explained in the next prompt here.", after={"verb": verb})


VERB = Verb(
    name="help",
    right=Right.HELP,
    usage="/help <verb>",
    summary="have a verb explained in your next prompt here",
    example="/help create-issue",
    argument=ArgumentRule.REQUIRED,
    is_change=False,
    resolve=resolve,
    carry_out=carry_out,
)
