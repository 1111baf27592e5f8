"""/use-skill: record that a skill was applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene


def resolve(scene: Scene, action: Action) -> Request:
    from agents.models import Skill
    from engine.verbs.resolve import nearest, unquoted
    from issues.refusals import Invalid
    from issues.texts import fold

    name = unquoted(action.args)
    skills = {fold(skill.name): skill for skill in Skill.objects.for_agent(scene.worker.agent.pk)}
    if fold(name) not in skills:
        hint = nearest(name, [skill.name for skill in skills.values()])
        raise Invalid(f"You have no skill “{name}”.", hint, field="skill")
    return Request({"skill": skills[fold(name)].pk})


def carry_out(scene: Scene, request: Request) -> Effect:
    from agents.models import Skill
    from agents.services.skills import use_skill

    skill = use_skill(actor=scene.worker, issue=scene.issue, skill=Skill.objects.get(pk=request.values["skill"]))
    return Effect(f"The skill “{skill.name}” is noted as applied.", after={"skill": skill.name}, issue=scene.issue)


VERB = Verb(
    name="use-skill",
    right=Right.USE_SKILL,
    usage="/use-skill <name>",
    summary="record that you applied a skill; one listed by name only stands whole in your next prompt here",
    example="/use-skill release-notes",
    argument=ArgumentRule.REQUIRED,
    core=True,
    is_change=False,
    resolve=resolve,
    carry_out=carry_out,
)
