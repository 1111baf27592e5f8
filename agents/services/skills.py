"""Skills: know-how of the company, and the record that one was applied."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import IntegrityError

from agents.models import Agent, Skill
from issues.activity import record
from issues.actors import Actor, Worker
from issues.effects import savepoint, service
from issues.models import Company, Issue
from issues.policies import Right, require
from issues.refusals import Conflict, Invalid
from issues.texts import check_line, check_text

BODY_BYTES = 60_000
NAME_CHARACTERS = 80


@service
def create_skill(
    *,
    actor: Actor,
    company: Company,
    name: str,
    body: str,
    description: str = "",
    agents: Sequence[Agent] = (),
) -> Skill:
    """A skill for the agents named, or for all."""
    require(actor, Right.INSTALL_SKILL, company)
    _check_agents(company, agents)
    skill = Skill(
        company=company,
        name=check_line(name, "name", limit=NAME_CHARACTERS),
        description=check_line(description, "description", limit=300, required=False),
        body=check_text(body, "skill", required=True, limit=BODY_BYTES),
    )
    _save(skill)
    skill.agents.set(agents)
    record(actor, "skill.created", company, skill=skill.pk)
    return skill


@service
def edit_skill(
    *,
    actor: Actor,
    skill: Skill,
    name: str | None = None,
    body: str | None = None,
    description: str | None = None,
    agents: Sequence[Agent] | None = None,
    enabled: bool | None = None,
) -> Skill:
    """Change what is given. `agents` are those it is for afterwards; none named is all."""
    require(actor, Right.MANAGE_WORK, skill.company)
    skill = Skill.objects.select_for_update(of=("self",), no_key=True).select_related("company").get(pk=skill.pk)
    if name is not None:
        skill.name = check_line(name, "name", limit=NAME_CHARACTERS)
    if body is not None:
        skill.body = check_text(body, "skill", required=True, limit=BODY_BYTES)
    if description is not None:
        skill.description = check_line(description, "description", limit=300, required=False)
    if enabled is not None:
        skill.enabled = enabled
    _save(skill)
    if agents is not None:
        _check_agents(skill.company, agents)
        skill.agents.set(agents)
    record(actor, "skill.edited", skill.company, skill=skill.pk)
    return skill


@service
def use_skill(*, actor: Worker, issue: Issue, skill: Skill) -> Skill:
    """Record that the agent applied the skill on the issue."""
    require(actor, Right.USE_SKILL, issue)
    if not Skill.objects.for_agent(actor.agent.pk).filter(pk=skill.pk).exists():
        raise Invalid(f"“{skill.name}” is not a skill of yours.", field="skill")
    record(actor, "skill.used", issue, skill=skill.pk)
    return skill


def _check_agents(company: Company, agents: Sequence[Agent]) -> None:
    if any(agent.company_id != company.pk for agent in agents):
        raise Invalid("An agent of another company cannot be named.", field="agents")


def _save(skill: Skill) -> None:
    try:
        with savepoint():
            skill.save()
    except IntegrityError:
        raise Conflict(f"There is a skill “{skill.name}” already.") from None
