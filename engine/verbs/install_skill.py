"""/install-skill: propose a skill to the board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from engine.verbs.definitions import read_definition
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(_scene: Scene, action: Action) -> Request:
    return Request(read_definition(action.body or "", action.args, keys=("description",), text_key="body"))


def carry_out(scene: Scene, request: Request) -> Effect:
    from agents.services.skills import create_skill

    values = request.values
    skill = create_skill(
        actor=scene.actor,
        company=scene.company,
        name=values["name"],
        description=values.get("description", ""),
        body=values.get("body", ""),
    )
    return Effect(f"The skill “{skill.name}” is installed.", after={"skill": skill.pk}, issue=scene.issue)


VERB = Verb(
    name="install-skill",
    right=Right.INSTALL_SKILL,
    usage="/install-skill [name]",
    summary="propose a skill to the board; the fenced block is `description:`, a line `---` and the skill's text",
    example="/install-skill release-notes\n```\ndescription: How we write release notes\n---\nList what changed.\n```",
    argument=ArgumentRule.OPTIONAL,
    body=BodyRule.REQUIRED,
    cap=3,
    resolve=resolve,
    carry_out=carry_out,
)
