"""Routines: work that comes round by the clock, each due time once."""

from __future__ import annotations

import datetime
import zoneinfo
from typing import Any

from cronsim import CronSim, CronSimError
from django.utils import timezone

from agents.models import Agent, Routine, RoutineFire
from issues.activity import record
from issues.actors import SYSTEM, Actor
from issues.effects import mark_entered, savepoint, service
from issues.models import Company, InboxKind, Issue, Member, Priority, Project
from issues.policies import Right, require
from issues.refusals import Invalid, Refusal
from issues.services.companies import check_time_zone
from issues.services.inbox import tell_board
from issues.services.issues import create_issue
from issues.sources import WakeupSource
from issues.texts import check_line, check_text

CRON_FIELDS = 5
"""Minute, hour, day of the month, month, day of the week."""

OPEN_ISSUE_HOLDS = datetime.timedelta(days=7)
"""A routine waits for the issue of its last fire to close, but no longer than this."""


@service
def create_routine(
    *,
    actor: Actor,
    company: Company,
    name: str,
    cron: str,
    title: str,
    assignee: Agent,
    body: str = "",
    time_zone: str = "",
    priority: Priority = Priority.NONE,
    project: Project | None = None,
    responsible: Member | None = None,
    enabled: bool = True,
) -> Routine:
    """A routine that opens an issue for an agent at each time that `cron` (five fields) names in the time zone."""
    member = require(actor, Right.INSTALL_ROUTINE, company)
    responsible = responsible or member
    if responsible is None:
        raise Invalid("A routine needs a person who answers for its issues.", field="responsible")
    _check_named(company, assignee=assignee, responsible=responsible, project=project)
    routine = Routine(
        company=company,
        name=_check_field("name", name),
        cron=_check_field("cron", cron),
        time_zone=_check_field("time_zone", time_zone or company.time_zone),
        title=_check_field("title", title),
        body=_check_field("body", body),
        priority=priority,
        project=project,
        assignee=assignee,
        responsible=responsible,
        enabled=enabled,
    )
    first = next_fire(routine, after=timezone.now())  # also of one that is off: it says whether the line is any good
    routine.next_fire_at = first if enabled else None
    routine.save(force_insert=True)
    record(actor, "routine.created", company, routine=routine.pk)
    return routine


@service
def edit_routine(*, actor: Actor, routine: Routine, **fields: Any) -> Routine:
    """Change any of name, cron, time_zone, title, body, priority, project and assignee.

    A new schedule counts from now; issues that were opened stay as they are.
    """
    require(actor, Right.MANAGE_WORK, routine.company)
    routine = _lock(routine)
    wanted = {field: _check_field(field, value) for field, value in fields.items()}
    changes = {field: value for field, value in wanted.items() if value != getattr(routine, field)}
    if not changes:
        return routine
    _check_named(routine.company, assignee=changes.get("assignee"), project=changes.get("project"))
    for field, value in changes.items():
        setattr(routine, field, value)
    following = next_fire(routine, after=timezone.now())
    if changes.keys() & {"cron", "time_zone"}:
        routine.next_fire_at = following if routine.enabled else None
    routine.save(update_fields=[*changes, "next_fire_at"])
    record(actor, "routine.edited", routine.company, routine=routine.pk, fields=sorted(changes))
    return routine


@service
def switch_routine(*, actor: Actor, routine: Routine, enabled: bool) -> Routine:
    """Turn it on, from now, or off."""
    require(actor, Right.MANAGE_WORK, routine.company)
    routine = _lock(routine)
    if routine.enabled == enabled:
        return routine
    routine.enabled = enabled
    routine.next_fire_at = next_fire(routine, after=timezone.now()) if enabled else None
    routine.save(update_fields=["enabled", "next_fire_at"])
    record(actor, "routine.switched", routine.company, routine=routine.pk, enabled=enabled)
    return routine


@service
def fire_routine(*, routine: Routine, now: datetime.datetime) -> RoutineFire | None:
    """Fire a due routine once, however many of its times were missed; None if it is not due any more.

    The row is held, and (routine, time) is unique, so that of two that fire it one does. A fire that opens no issue
    says why; when the issue could not be opened, the board is told.
    """
    routine = _lock(routine)
    due = routine.next_fire_at
    if not routine.enabled or due is None or due > now:
        return None
    routine.next_fire_at = next_fire(routine, after=now)
    routine.save(update_fields=["next_fire_at"])
    fire = RoutineFire(routine=routine, due_at=due, skipped_because=_why_skipped(routine, now))
    if not fire.skipped_because:
        _open_issue(routine, fire)
    fire.save(force_insert=True)
    record(SYSTEM, "routine.fired", routine.company, routine=routine.pk, skipped=bool(fire.skipped_because))
    return fire


@service
def fire_routine_now(*, actor: Actor, routine: Routine) -> RoutineFire:
    """Open the routine's issue out of turn, whatever is still open: a person asked. Its own times stay as they are."""
    require(actor, Right.MANAGE_WORK, routine.company)
    routine = _lock(routine)
    fire = RoutineFire(routine=routine, due_at=timezone.now(), issue=_create_issue(routine, actor))
    fire.save(force_insert=True)
    record(actor, "routine.fired", routine.company, routine=routine.pk, skipped=False)
    return fire


def next_fire(routine: Routine, *, after: datetime.datetime) -> datetime.datetime:
    """The first due time after `after`, in UTC. Invalid for a cron line that is wrong or never comes.

    Where the clock goes forward, a time that does not exist comes at the end of the gap; where it goes back, a time
    that exists twice comes once, the first time.
    """
    local = after.astimezone(zoneinfo.ZoneInfo(routine.time_zone))
    try:
        if len(routine.cron.split()) != CRON_FIELDS:
            raise CronSimError("wrong number of fields")
        for found in CronSim(routine.cron, local):
            due: datetime.datetime = found.astimezone(datetime.UTC)
            if due > after:  # in the second of two equal hours cronsim begins with the first
                return due
    except CronSimError:
        pass
    raise Invalid(f"“{routine.cron}” is no schedule.", "Use five fields, like `30 9 * * 1-5`.", field="cron")


def _lock(routine: Routine) -> Routine:
    return (
        Routine.objects.select_for_update(of=("self",), no_key=True)
        .select_related("company", "assignee", "responsible__user", "project")
        .get(pk=routine.pk)
    )


def _open_issue(routine: Routine, fire: RoutineFire) -> None:
    try:
        with savepoint():
            fire.issue = _create_issue(routine, SYSTEM)
    except Refusal as refusal:  # its agent or responsible person has left, say
        fire.skipped_because = str(refusal)[:200]
        tell_board(
            InboxKind.FAILURE,
            f"The routine “{routine.name}” could not open its issue. {refusal}",
            company=routine.company,
        )


def _check_field(field: str, value: Any) -> Any:
    match field:
        case "name":
            return check_line(value, "name", limit=120)
        case "title":
            return check_line(value, "title", limit=300)
        case "body":
            return check_text(value, "text")
        case "cron":
            return " ".join(value.split())
        case "time_zone":
            return check_time_zone(value)
        case "priority":
            return Priority(value)
        case "project" | "assignee":
            return value
    raise Invalid(f"A routine has no field “{field}”.", field=field)


def _check_named(
    company: Company, *, assignee: Agent | None, project: Project | None, responsible: Member | None = None
) -> None:
    for named, field in ((assignee, "assignee"), (responsible, "responsible"), (project, "project")):
        if named is not None and named.company_id != company.pk:
            raise Invalid(f"The {field} belongs to another company.", field=field)
    if assignee is not None and not assignee.is_present:
        raise Invalid(f"@{assignee.handle} was terminated.", field="assignee")


def _create_issue(routine: Routine, actor: Actor) -> Issue:
    issue = create_issue(
        actor=actor,
        company=routine.company,
        title=routine.title,
        description=routine.body,
        priority=Priority(routine.priority),
        project=routine.project,
        assignee=routine.assignee,
        responsible=routine.responsible,
    )
    mark_entered(
        issue,
        actor,
        source=WakeupSource.ROUTINE,
        reason=f"The routine “{routine.name}” opened the issue.",
    )
    return issue


def _why_skipped(routine: Routine, now: datetime.datetime) -> str:
    last = routine.fires.filter(issue__isnull=False).select_related("issue__company").order_by("-due_at").first()
    if last is None or last.issue is None or last.issue.is_closed:
        return ""
    if now - last.due_at > OPEN_ISSUE_HOLDS:
        return ""
    return f"{last.issue.identifier}, opened by the fire before, is still open."
