"""/install-agent: propose to hire an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from engine.verbs.definitions import read_definition
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene

KEYS = ("handle", "role", "title", "description", "manager", "provider", "model")


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import find_somebody
    from issues.models import Member
    from issues.refusals import Invalid

    values = read_definition(action.body or "", action.args, keys=KEYS, text_key="instructions")
    manager = find_somebody(scene, values.pop("manager", "none") or "none")
    if isinstance(manager, Member):
        raise Invalid("A manager is an agent.", "Leave it out to report to the board.", field="manager")
    return Request({**values, "manager": manager.pk if manager is not None else None})


def carry_out(scene: Scene, request: Request) -> Effect:
    from agents.services.agents import hire_agent

    values = dict(request.values)
    manager_id = values.pop("manager")
    manager = scene.company.agents.filter(pk=manager_id).first() if manager_id is not None else None
    agent = hire_agent(actor=scene.actor, company=scene.company, manager=manager, **values)
    return Effect(f"@{agent.handle} is hired.", after={"agent": agent.pk}, issue=scene.issue)


VERB = Verb(
    name="install-agent",
    right=Right.INSTALL_AGENT,
    usage="/install-agent [name]",
    summary="propose to hire an agent; the fenced block is `title:`, `description:`, ... a line `---`, instructions",
    example="/install-agent Grace\n```\ntitle: Tester\nmanager: @ada\n---\nYou test what others build.\n```",
    details=f"Keys: {', '.join(KEYS)}.",
    argument=ArgumentRule.OPTIONAL,
    body=BodyRule.REQUIRED,
    cap=3,
    resolve=resolve,
    carry_out=carry_out,
)
