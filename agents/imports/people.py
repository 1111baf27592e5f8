"""Who is in the company, and what they work with: members, agents, projects, labels, skills, routines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.imports.archive import Archive, Row
from agents.imports.house import House
from agents.models import PROGRAMS, Adapter, Agent, AgentStatus
from agents.services.agents import hire_agent, set_manager
from agents.services.routines import create_routine
from agents.services.skills import create_skill, edit_skill
from issues.fields import check_fields
from issues.models import Member, Priority, Role, User
from issues.services.accounts import create_user
from issues.services.handles import claim_handle
from issues.services.projects import create_label, create_project

AGENT_FIELDS = (
    "name", "role", "title", "description", "instructions", "knowledge", "adapter", "model_tier", "provider", "model",
    "script", "tier", "thinking", "policy", "active_hours",
)  # fmt: skip
AGENT_FIGURES = ("max_output_tokens", "max_concurrent_runs", "schedule_minutes")


def first_owner_of(archive: Archive) -> str:
    """The handle of the first owner who has not left: whoever imports the company is them."""
    rows = archive.rows("members.jsonl")
    owners = (row.text("handle") for row in rows if row.text("role") == Role.OWNER and not row.text("removed_at"))
    return next(owners, "")


def add_members(house: House, accounts: Mapping[str, User]) -> None:
    """Everybody else than the first owner: under the account named for their handle, else under a new one, which has
    no password yet."""
    own = house.owner.member_in(house.company)
    assert own is not None  # noqa: S101 - they founded it
    house.members[own.handle] = own
    for row in house.archive.rows("members.jsonl"):
        handle = row.text("handle")
        if handle == own.handle:
            continue
        with row.told():
            user = accounts.get(handle) or _new_account(house, row, handle)
            member = Member(
                company=house.company,
                user=user,
                role=row.text("role"),
                handle=claim_handle(house.company, handle),
                removed_at=row.moment("removed_at"),
            )
            check_fields(member, ("role",))
            if house.company.members.filter(user=user).exists():
                raise row.refused(f"the account “{user.username}” would be two members.")
            member.save(force_insert=True)
        house.members[member.handle] = member
        house.made["members"] += 1


def add_agents(house: House) -> None:
    """In the order of the file; then who reports to whom, and who no longer works. Nobody is woken by it."""
    rows = list(house.archive.rows("agents.jsonl"))
    for row in rows:
        with row.told():
            fields = _fields(row)
            if fields.get("adapter") in PROGRAMS:  # what a file says is not run on this server
                fields["adapter"] = Adapter.LLM
            agent = hire_agent(actor=house.owner, company=house.company, handle=row.text("handle"), **fields)
        house.agents[agent.handle] = agent
        house.made["agents"] += 1
    for row in rows:
        agent = house.agents[row.text("handle")]
        with row.told():
            if manager := house.agent(row, "manager"):
                set_manager(actor=house.owner, agent=agent, manager=manager)
    for row in rows:
        agent = house.agents[row.text("handle")]
        _set_status(agent, row)
        if row.text("adapter") in PROGRAMS:
            _stop_program(house, agent)


def add_material(house: House) -> None:
    """Projects and labels, which issues name; skills and routines, which name agents. Routines start off."""
    for row in house.archive.rows("projects.jsonl"):
        with row.told():
            fields = {name: row.text(name) for name in ("name", "description", "rules")}
            project = create_project(actor=house.owner, company=house.company, **fields)
            project.archived_at = row.moment("archived_at")
            project.save(update_fields=["archived_at"])
        house.projects[project.name] = project
        house.made["projects"] += 1
    for row in house.archive.rows("labels.jsonl"):
        with row.told():
            label = create_label(
                actor=house.owner, company=house.company, name=row.text("name"), colour=row.text("colour")
            )
        house.labels[label.name] = label
        house.made["labels"] += 1
    for row in house.archive.rows("skills.jsonl"):
        _add_skill(house, row)
    for row in house.archive.rows("routines.jsonl"):
        _add_routine(house, row)


def _new_account(house: House, row: Row, handle: str) -> User:
    """Its user name is free: an account that is there already is somebody, who may be somebody else."""
    plain = f"{house.company.slug}-{handle}"
    username, number = plain, 1
    while User.objects.filter(username__iexact=username).exists():
        number += 1
        username = f"{plain}-{number}"
    if not row.text("removed_at"):
        house.remarks.append(f"@{handle} has a new account without a password: manage.py login_link --user {username}")
    return create_user(username=username, name=row.text("name"))


def _fields(row: Row) -> dict[str, Any]:
    texts = {name: row.text(name) for name in AGENT_FIELDS if name in row.values}
    figures = {name: row.whole(name) for name in AGENT_FIGURES if name in row.values}
    return texts | figures


def _set_status(agent: Agent, row: Row) -> None:
    if row.text("status") in ("", AgentStatus.ACTIVE):
        return
    with row.told():
        agent.status = row.text("status")
        check_fields(agent, ("status",))
        agent.save(update_fields=["status"])


def _stop_program(house: House, agent: Agent) -> None:
    """It ran a program where it comes from. It starts nothing until somebody has said what it is here."""
    if agent.is_active:
        agent.status = AgentStatus.PAUSED
        agent.save(update_fields=["status"])
    house.remarks.append(f"@{agent.handle} was a program on its server: it is paused, and an owner says what it runs")


def _add_skill(house: House, row: Row) -> None:
    with row.told():
        agents = [house.agents[handle] for handle in row.texts("agents") if handle in house.agents]
        if row.texts("agents") and not agents:
            raise ValueError("none of its agents is in the file")  # it would be everybody's
        fields = {name: row.text(name) for name in ("name", "description", "body")}
        skill = create_skill(actor=house.owner, company=house.company, agents=agents, **fields)
        if not row.flag("enabled"):
            edit_skill(actor=house.owner, skill=skill, enabled=False)
    house.made["skills"] += 1


def _add_routine(house: House, row: Row) -> None:
    with row.told():
        assignee, responsible = house.agent(row, "assignee"), house.member(row, "responsible")
        if assignee is None:
            raise ValueError("it names no agent")
        create_routine(
            actor=house.owner,
            company=house.company,
            assignee=assignee,
            responsible=responsible if responsible is not None and responsible.is_present else None,
            project=house.project(row),
            priority=Priority(row.whole("priority") or Priority.NONE),
            enabled=False,
            **{name: row.text(name) for name in ("name", "cron", "time_zone", "title", "body")},
        )
    house.made["routines"] += 1
