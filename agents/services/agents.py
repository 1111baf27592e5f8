"""Agents: hiring, changing, pausing, terminating, and their reporting line."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils import timezone

from agents.adapters.thinking import ThinkingLevel
from agents.hours import Hours, next_round
from agents.models import PROGRAMS, Adapter, Agent, AgentStatus, ModelTier, PolicyPreset, Tier, Wakeup, WakeupState
from agents.models.run import Run
from agents.programs.base import Unusable
from agents.programs.registry import BY_ADAPTER
from agents.services.instructions import keep_instructions
from agents.services.wakeups import ring_after_commit
from issues.activity import record
from issues.actors import Actor, Person, Worker
from issues.effects import service
from issues.fields import check_fields
from issues.models import Company, InboxKind
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden, Invalid
from issues.services.handles import claim_handle, free_handle
from issues.services.inbox import tell_board
from issues.services.locks import lock_company
from issues.texts import check_line, check_text

TERMINATED = "The agent was terminated."
"""Why its wakeups end."""

NO_COMMANDS = "This installation runs no commands for agents."
HOW_TO_ALLOW = "Its operator can set TRIMUS_CLI_AGENTS."

_COMMAND = 1_000
"""Characters."""

_LINES = {"name": 120, "role": 60, "title": 120, "description": 300, "provider": 40, "model": 120}
_TEXTS = {"instructions": 60_000, "knowledge": 15_000, "script": 60_000}
_CHOICES: dict[str, list[str]] = {
    "adapter": Adapter.values,
    "policy": PolicyPreset.values,
    "tier": ["", *Tier.values],
    "thinking": ["", *ThinkingLevel],
    "model_tier": ["", *ModelTier.values],
}
_PLAIN = ("max_output_tokens", "max_concurrent_runs", "schedule_minutes")


@service
def hire_agent(
    *,
    actor: Actor,
    company: Company,
    name: str,
    handle: str = "",
    manager: Agent | None = None,
    **fields: Any,
) -> Agent:
    """A new agent, at work at once. Its handle is made from its name unless given; its policy is the company's for
    those who are new, unless given."""
    require(actor, Right.INSTALL_AGENT, company)
    agent = Agent(company=company, manager=_check_manager(company, manager), policy=first_preset(company))
    _set_fields(agent, name=name, **fields)
    _check_program(actor, agent, is_new=agent.is_program or bool(agent.command))
    agent.handle = claim_handle(company, handle) if handle else free_handle(company, agent.name)
    agent.next_schedule_at = next_round(agent, timezone.now())
    check_fields(agent, fields)
    agent.save(force_insert=True)
    if agent.instructions:
        keep_instructions(actor, agent)
    record(actor, "agent.hired", company, agent=agent.pk)
    return agent


@service
def edit_agent(*, actor: Actor, agent: Agent, **fields: Any) -> Agent:
    """Change any of name, role, title, description, instructions, knowledge, adapter, provider and model or model tier,
    script, command, tier, thinking, policy, limits and schedule. What runs on the server, owners alone change."""
    require(actor, Right.MANAGE_AGENTS, agent.company)
    agent = _lock(agent)
    before = {field: getattr(agent, field, None) for field in fields}
    _set_fields(agent, **fields)
    check_fields(agent, fields)
    changed = sorted(field for field in fields if getattr(agent, field) != before[field])
    if not changed:
        return agent
    _check_program(actor, agent, is_new="command" in changed or ("adapter" in changed and agent.is_program))
    if {"schedule_minutes", "active_hours"} & set(changed):
        agent.next_schedule_at = next_round(agent, timezone.now())
    agent.save(update_fields=[*changed, "next_schedule_at"])
    if "instructions" in changed:
        keep_instructions(actor, agent, before=before["instructions"] or "")
    record(actor, "agent.edited", agent.company, agent=agent.pk, fields=changed)
    return agent


@service
def set_manager(*, actor: Actor, agent: Agent, manager: Agent | None) -> Agent:
    """Put the agent under another, or at the top. A ring in the reporting line is refused."""
    require(actor, Right.MANAGE_AGENTS, agent.company)
    lock_company(agent.company)  # two moves at once could close a ring that neither sees
    agent = _lock(agent)
    _check_manager(agent.company, manager)
    if agent.manager_id == (manager.pk if manager is not None else None):
        return agent
    if manager is not None and agent.pk in _line_above(manager):
        raise Invalid(f"@{agent.handle} would report to itself.", field="manager")
    agent.manager = manager
    agent.save(update_fields=["manager"])
    record(actor, "agent.manager", agent.company, agent=agent.pk, to=manager.pk if manager else None)
    return agent


@service
def pause_agent(*, actor: Actor, agent: Agent) -> Agent:
    """The agent starts nothing until resumed; what is pending waits."""
    require(actor, Right.MANAGE_AGENTS, agent.company)
    return _change_status(actor, agent, AgentStatus.PAUSED, "agent.paused", frm=(AgentStatus.ACTIVE,))


@service
def resume_agent(*, actor: Actor, agent: Agent) -> Agent:
    """Let a paused or pending agent work again, and terminated ones come back: termination is reversible."""
    require(actor, Right.MANAGE_AGENTS, agent.company)
    agent = _change_status(
        actor,
        agent,
        AgentStatus.ACTIVE,
        "agent.resumed",
        frm=(AgentStatus.PAUSED, AgentStatus.PENDING, AgentStatus.TERMINATED),
    )
    ring_after_commit()
    return agent


@service
def terminate_agent(*, actor: Actor, agent: Agent) -> Agent:
    """End the agent: it starts nothing, its pending wakeups end, its live runs are fenced off when they come back.

    The board may, and any other agent of the company, never the agent itself. The board is told at once.
    """
    require(actor, Right.TERMINATE, agent.company)
    if isinstance(actor, Worker) and actor.agent.pk == agent.pk:
        raise Forbidden("An agent cannot terminate itself.")
    if not _lock(agent).is_present:
        return agent
    agent = _change_status(
        actor,
        agent,
        AgentStatus.TERMINATED,
        "agent.terminated",
        frm=(AgentStatus.ACTIVE, AgentStatus.PAUSED, AgentStatus.PENDING),
    )
    Wakeup.objects.filter(agent=agent, state=WakeupState.PENDING).update(
        state=WakeupState.STALE, ended_because=TERMINATED, ended_at=timezone.now()
    )
    agent.reports.update(manager=agent.manager)
    if isinstance(actor, Worker):
        text = f"{actor} terminated @{agent.handle}: resume it if that should not be."
        tell_board(InboxKind.STOPPED, text, company=agent.company)
    return agent


def first_preset(company: Company) -> PolicyPreset:
    """The policy that a new agent of the company begins with."""
    return PolicyPreset.PROBATION if company.hires_on_probation else PolicyPreset.STANDARD


def worker_for(agent: Agent, run: Run | None = None, *, approved: bool = False) -> Worker:
    """The actor an agent is, within its run if it has one."""
    if run is None:
        return Worker(agent, approved=approved)
    home = run.issue
    is_own = home is not None and home.assignee_member_id is None and home.assignee_agent_id in (None, agent.pk)
    return Worker(agent, run=run, home=home, owns_home=is_own, begun_by=run.chain_member, approved=approved)


def _line_above(agent: Agent) -> list[int]:
    """The agent and whoever it reports to up to the top, as they stand now."""
    reports_to = dict(Agent.objects.filter(company=agent.company_id).values_list("pk", "manager"))
    line: list[int] = []
    above: int | None = agent.pk
    while above is not None:
        line.append(above)
        above = reports_to[above]
    return line


def _lock(agent: Agent) -> Agent:
    return (
        Agent.objects.select_for_update(of=("self",), no_key=True).select_related("company", "manager").get(pk=agent.pk)
    )


def _change_status(
    actor: Actor, agent: Agent, status: AgentStatus, kind: str, *, frm: tuple[AgentStatus, ...]
) -> Agent:
    agent = _lock(agent)
    if agent.status == status:
        return agent
    if agent.status not in frm:
        raise Conflict(f"@{agent.handle} is {agent.get_status_display().lower()}.")
    agent.status = status
    agent.save(update_fields=["status"])
    record(actor, kind, agent.company, agent=agent.pk)
    return agent


def _set_fields(agent: Agent, **fields: Any) -> None:
    for field, value in fields.items():
        if field in _LINES:
            value = check_line(value, field, limit=_LINES[field], required=field == "name")
        elif field in _TEXTS:
            value = check_text(value, field, limit=_TEXTS[field])
        elif field in _CHOICES:
            if value not in _CHOICES[field]:
                raise Invalid(f"“{value}” is not a {field}.", f"One of: {', '.join(_CHOICES[field])}.", field=field)
        elif field == "command":
            value = _check_command(value)
        elif field == "active_hours":
            value = _check_hours(agent.company, value)
        elif field not in _PLAIN:
            raise Invalid(f"An agent has no “{field}”.", field=field)
        setattr(agent, field, value)
    if agent.model_tier and (agent.provider or agent.model):
        raise Invalid("An agent names a tier, or a provider and model; not both.", field="model_tier")


def _check_program(actor: Actor, agent: Agent, *, is_new: bool) -> None:
    """A command runs with the rights of the server. An owner says which, in person, where the operator lets them:
    Forbidden for everybody else, whatever the board approved. Invalid for one that cannot be."""
    if is_new:
        if not isinstance(actor, Person):
            raise Forbidden("What runs on the server is said by an owner, in person.")
        require(actor, Right.MANAGE_COMPANY, agent.company)
        if not settings.CLI_AGENTS:
            raise Forbidden(NO_COMMANDS, HOW_TO_ALLOW)
    if agent.adapter not in PROGRAMS:
        return
    if agent.model.startswith("-"):
        raise Invalid(f"“{agent.model}” is no model.", "A program would take it for an option.", field="model")
    try:
        BY_ADAPTER[agent.adapter].words(agent.command)
    except Unusable as problem:
        raise Invalid(str(problem), field="command") from None


def _check_command(value: str) -> str:
    """On one line, and otherwise as it is: blanks may stand in quotation marks."""
    command = check_text(value, "command", limit=_COMMAND * 4).strip()
    if len(command) > _COMMAND or not command.isprintable():
        raise Invalid(f"A command is one line of at most {_COMMAND:,} characters.", field="command")
    return command


def _check_manager(company: Company, manager: Agent | None) -> Agent | None:
    if manager is not None and (manager.company_id != company.pk or manager.status == AgentStatus.TERMINATED):
        raise Invalid("The manager must be a present agent of the same company.", field="manager")
    return manager


def _check_hours(company: Company, value: str) -> str:
    """The hours as they are kept."""
    try:
        return str(Hours.read(value, company.time_zone)) if value.strip() else ""
    except ValueError as error:
        raise Invalid(
            str(error), "Write them as 08:00-18:00, or 22:00-06:00 over midnight.", field="active_hours"
        ) from None
