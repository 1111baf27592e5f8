"""/poke: a verb that exists in tests only, written as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Permission, Reach

if TYPE_CHECKING:
    from engine.verbs.scene import Scene

RIGHT = Permission("poke", Reach.AT_HAND)


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import find_somebody, refer

    return Request({"whom": refer(find_somebody(scene, action.args))})


def carry_out(scene: Scene, request: Request) -> Effect:
    from issues.activity import record
    from issues.policies import require

    require(scene.actor, RIGHT, scene.issue)
    record(scene.actor, "agent.poked", scene.issue, whom=request.values["whom"])
    return Effect("Poked.", after={"whom": request.values["whom"]}, issue=scene.issue)


VERB = Verb(
    name="poke",
    right=RIGHT,
    usage="/poke <@handle>",
    summary="poke a colleague gently",
    example="/poke @ada",
    details="Gently.",
    argument=ArgumentRule.REQUIRED,
    cap=2,
    resolve=resolve,
    carry_out=carry_out,
)
