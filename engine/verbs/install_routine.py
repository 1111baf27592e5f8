"""/install-routine: propose work that comes round by the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from engine.verbs.definitions import read_definition
from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene

KEYS = ("cron", "title", "assignee", "priority", "time-zone")


def resolve(scene: Scene, action: Action) -> Request:
    from engine.verbs.resolve import find_somebody, read_priority
    from issues.models import Member
    from issues.refusals import Invalid

    values = read_definition(action.body or "", action.args, keys=KEYS, text_key="body")
    for key in ("cron", "title"):
        if not values.get(key):
            raise Invalid(f"A routine needs `{key}:`.", field=key)
    assignee = find_somebody(scene, values.get("assignee") or "me")
    if assignee is None or isinstance(assignee, Member):
        raise Invalid("A routine's issues are assigned to an agent.", field="assignee")
    priority = read_priority(values.get("priority") or "none").slug
    return Request({**values, "assignee": assignee.pk, "priority": priority})


def carry_out(scene: Scene, request: Request) -> Effect:
    from agents.services.routines import create_routine
    from issues.models import Priority

    values = request.values
    routine = create_routine(
        actor=scene.actor,
        company=scene.company,
        name=values["name"],
        cron=values["cron"],
        title=values["title"],
        body=values.get("body", ""),
        time_zone=values.get("time_zone", ""),
        priority=Priority.from_slug(values["priority"]),
        assignee=scene.company.agents.get(pk=values["assignee"]),
        responsible=scene.issue.responsible,
    )
    return Effect(f"The routine “{routine.name}” is installed.", after={"routine": routine.pk}, issue=scene.issue)


VERB = Verb(
    name="install-routine",
    right=Right.INSTALL_ROUTINE,
    usage="/install-routine [name]",
    summary="propose a routine; the fenced block is `cron:`, `title:`, `assignee:`, a line `---`, the issue's text",
    example=(
        "/install-routine Weekly report\n```\ncron: 0 9 * * 1\ntitle: Weekly report\nassignee: @ada\n---\n"
        "Sum up the week.\n```"
    ),
    details=f"Keys: {', '.join(KEYS)}.",
    argument=ArgumentRule.OPTIONAL,
    body=BodyRule.REQUIRED,
    cap=3,
    resolve=resolve,
    carry_out=carry_out,
)
