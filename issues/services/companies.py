"""Companies and their members."""

from __future__ import annotations

import logging
import re
import zoneinfo
from typing import Any

from django.db import IntegrityError
from django.utils import timezone

from issues.activity import record
from issues.actors import Actor, Person
from issues.audit import maintenance
from issues.effects import savepoint, service
from issues.fields import check_fields
from issues.models import Company, CompanyStatus, Member, Role, User
from issues.models.company import KEY_PATTERN
from issues.policies import Right, require
from issues.refusals import Conflict, Invalid
from issues.services.handles import claim_handle, free_handle
from issues.services.locks import lock_company
from issues.texts import check_line, check_text

log = logging.getLogger(__name__)

SETTINGS = (
    "hop_limit",
    "continue_limit",
    "runs_per_hour",
    "max_concurrent_runs",
    "comments_wake_assignee",
    "agents_may_create_labels",
    "hires_on_probation",
    "prompt_budget",
    "retention_days",
    "file_quota_mib",
    "default_thinking",
    "checkpoints",
)


RESERVED_KEYS = frozenset(
    {
        "admin",
        "api",
        "design",
        "events",
        "health",
        "healthz",
        "metrics",
        "help",
        "login",
        "logout",
        "mcp",
        "profile",
        "static",
        "theme",
    }
)
"""First parts of addresses that belong to no company."""


@service
def found_company(
    *, actor: Person, name: str, key: str, mission: str = "", time_zone: str = "UTC", handle: str = ""
) -> Company:
    """A new company with the actor as its first owner, under `handle` or their user name. Any user may found one."""
    key = key.strip().upper()
    if not re.fullmatch(KEY_PATTERN, key):
        raise Invalid(
            f"“{key}” cannot be a company key.",
            "Use 2 to 10 capital letters and digits, a letter first.",
            field="key",
        )
    if key.lower() in RESERVED_KEYS:
        raise Invalid(f"{key} is an address of Trimus itself.", "Choose another key.", field="key")
    company = Company(
        name=check_line(name, "name", limit=120),
        key=key,
        mission=check_text(mission, "mission", limit=4_000),
        time_zone=check_time_zone(time_zone),
    )
    try:
        with savepoint():
            company.save()
    except IntegrityError:
        raise Conflict(f"There is a company with the key {key} already.") from None
    taken = claim_handle(company, handle) if handle else free_handle(company, actor.user.username)
    Member.objects.create(company=company, user=actor.user, role=Role.OWNER, handle=taken)
    record(actor, "company.founded", company)
    return company


@service
def change_company(*, actor: Actor, company: Company, **changes: Any) -> Company:
    """Change name, mission, norms, time zone or one of `SETTINGS`."""
    require(actor, Right.MANAGE_COMPANY, company)
    company = lock_company(company)
    before = {field: getattr(company, field, None) for field in changes}
    for field, value in changes.items():
        setattr(company, field, _check_setting(field, value))
    check_fields(company, changes)
    changed = sorted(field for field in changes if getattr(company, field) != before[field])
    if changed:
        company.save(update_fields=changed)
        record(actor, "company.changed", company, fields=changed)
    return company


@service
def pause_company(*, actor: Actor, company: Company) -> Company:
    """Nothing starts until it is resumed; what is pending waits."""
    return _set_company_status(actor, company, CompanyStatus.PAUSED)


@service
def resume_company(*, actor: Actor, company: Company) -> Company:
    return _set_company_status(actor, company, CompanyStatus.ACTIVE)


@service
def delete_company(*, actor: Actor, company: Company) -> None:
    """Delete the company and everything it owns, its audit too, for good. The accounts of its people stay.

    Refused while its agents are at work. An owner's act.
    """
    require(actor, Right.MANAGE_COMPANY, company)
    company = lock_company(company)
    if company.runs.filter(ended_at=None).exists():
        raise Conflict("Agents of this company are at work.", "Pause it and cancel their runs first.")
    key, number = company.key, company.pk
    with maintenance():
        # What points to agents and members protects them, so it goes before them.
        company.issues.all().delete()
        company.policy_rules.all().delete()
        company.routines.all().delete()
        company.hooks.all().delete()
        company.runs.all().delete()
        company.agents.all().delete()
        company.delete()
    log.warning("company %s (%d) was deleted by %s", key, number, actor)


@service
def add_member(*, actor: Actor, company: Company, user: User, role: Role, handle: str = "") -> Member:
    """Make the user a member, or a removed one a member again under the old handle."""
    require(actor, Right.MANAGE_COMPANY, company)
    company = lock_company(company)
    old = Member.objects.filter(company=company, user=user).first()
    if old is not None:
        if old.removed_at is None:
            raise Conflict(f"{user} is a member already.")
        old.removed_at = None
        old.role = role
        old.save(update_fields=["removed_at", "role"])
        record(actor, "member.added", company, member=old.pk, role=role)
        return old
    taken = claim_handle(company, handle) if handle else free_handle(company, user.username)
    member = Member.objects.create(company=company, user=user, role=role, handle=taken)
    record(actor, "member.added", company, member=member.pk, role=role)
    return member


@service
def change_role(*, actor: Actor, member: Member, role: Role) -> Member:
    require(actor, Right.MANAGE_COMPANY, member.company)
    member = _lock_member(member)
    if member.role == role:
        return member
    _keep_an_owner(member)
    before, member.role = member.role, role
    member.save(update_fields=["role"])
    record(actor, "member.role", member.company, member=member.pk, **{"from": before, "to": role})
    return member


@service
def remove_member(*, actor: Actor, member: Member) -> Member:
    """Take the membership away at once: each request, key and stream looks it up anew."""
    require(actor, Right.MANAGE_COMPANY, member.company)
    member = _lock_member(member)
    _keep_an_owner(member)
    member.removed_at = timezone.now()
    member.save(update_fields=["removed_at"])
    record(actor, "member.removed", member.company, member=member.pk)
    return member


def check_time_zone(name: str) -> str:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(f"There is no time zone “{name}”.", "Use a name like Europe/Berlin.", field="time_zone") from None
    return name


def _check_setting(field: str, value: Any) -> Any:
    if field == "name":
        return check_line(value, "name", limit=120)
    if field == "time_zone":
        return check_time_zone(value)
    if field in ("mission", "norms"):
        return check_text(value, field, limit=4_000 if field == "mission" else 15_000)
    if field not in SETTINGS:
        raise Invalid(f"A company has no setting “{field}”.", field=field)
    return value


def _set_company_status(actor: Actor, company: Company, status: CompanyStatus) -> Company:
    require(actor, Right.MANAGE_AGENTS, company)
    company = lock_company(company)
    if company.status != status:
        company.status = status
        company.save(update_fields=["status"])
        record(actor, f"company.{'paused' if status == CompanyStatus.PAUSED else 'resumed'}", company)
    return company


def _lock_member(member: Member) -> Member:
    """The membership as it stands now, if it does. The company is held, so that two owners cannot both leave."""
    lock_company(member.company)
    member = Member.objects.select_related("company", "user").get(pk=member.pk)
    if not member.is_present:
        raise Conflict(f"@{member.handle} is no longer a member.")
    return member


def _keep_an_owner(member: Member) -> None:
    """Refuse to take the role of the last owner."""
    others = Member.objects.present().filter(company=member.company, role=Role.OWNER).exclude(pk=member.pk)
    if member.role == Role.OWNER and not others.exists():
        raise Conflict("A company keeps at least one owner.")
