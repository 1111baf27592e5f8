"""What was under way when a backup was made, brought to an end in what is restored: it starts with nothing going on,
wakes nobody, asks no model and sends nothing."""

from __future__ import annotations

import datetime

from django.utils import timezone

from agents.hours import next_round
from agents.models import PROGRAMS, Agent, AgentStatus, DryRun, Routine, Run, RunState
from agents.models.dry_run import OPEN, DryRunState
from agents.services.routines import next_fire
from agents.services.spending import settle_unknown
from engine.delivery import put_back
from issues.activity import record
from issues.actors import SYSTEM
from issues.effects import quietly, unit
from issues.models import (
    Company,
    CompanyStatus,
    Delivery,
    DeliveryState,
    InboxItem,
    Notice,
    NoticeState,
    WorkspaceFile,
)
from issues.models.notice import WAITING
from issues.services.companies import pause_company
from issues.services.notices import OLDEST

_BECAUSE = "The installation was restored from a backup."


def quiet_down() -> list[str]:
    """Once, before anything of the restored installation starts. The keys of the companies that were paused.

    Runs under way are lost, and what they were to deliver is pending again. Every company is paused: what is pending
    starts when somebody resumes it. Agents that are programs are paused besides, for the server may be another one than
    their owner chose the command for. Times that were missed since are not made up for.
    """
    now = timezone.now()
    with unit(), quietly(telling=False):
        paused = _pause_companies()
        _pause_programs()
        _end_runs(now)
        _end_dry_runs(now)
        _move_times_forward(now)
        WorkspaceFile.objects.filter(is_made=True).update(is_made=False)
        _skip_notices(now)
        _drop_deliveries(now)
    return paused


def _pause_companies() -> list[str]:
    active = list(Company.objects.filter(status=CompanyStatus.ACTIVE).order_by("key"))
    for company in active:
        pause_company(actor=SYSTEM, company=company)
    return [company.key for company in active]


def _pause_programs() -> None:
    for agent in (
        Agent.objects.active().filter(adapter__in=PROGRAMS).select_related("company").order_by("company", "pk")
    ):
        agent.status = AgentStatus.PAUSED
        agent.save(update_fields=["status"])
        record(SYSTEM, "agent.paused", agent.company, agent=agent.pk)


def _end_runs(now: datetime.datetime) -> None:
    """Also those whose reply was kept and not applied yet: it was meant for what stood then."""
    for run in Run.objects.live().select_related("company", "agent", "issue__company").order_by("pk"):
        run.state, run.ended_at = RunState.LOST, now
        run.error_kind, run.error = "lost", _BECAUSE
        run.save(update_fields=["state", "ended_at", "error_kind", "error"])
        settle_unknown(run)
        put_back(run)
        record(SYSTEM, "run.ended", run.issue or run.company, run=run.pk, state=run.state)


def _end_dry_runs(now: datetime.datetime) -> None:
    going_on = DryRun.objects.filter(state__in=OPEN)
    for dry_run in going_on.select_related("run__company", "run__agent"):
        settle_unknown(dry_run.run)
    going_on.update(state=DryRunState.FAILED, ended_at=now, error_kind="lost", error=_BECAUSE)


def _move_times_forward(now: datetime.datetime) -> None:
    for agent in Agent.objects.filter(next_schedule_at__lt=now).select_related("company"):
        Agent.objects.filter(pk=agent.pk).update(next_schedule_at=next_round(agent, now))
    for routine in Routine.objects.filter(next_fire_at__lt=now):
        Routine.objects.filter(pk=routine.pk).update(next_fire_at=next_fire(routine, after=now))


def _skip_notices(now: datetime.datetime) -> None:
    """Most were sent after the backup was made."""
    Notice.objects.filter(state__in=WAITING).update(state=NoticeState.SKIPPED, ended_at=now, claimed_at=None)
    untold = InboxItem.objects.filter(notice=None, created_at__gt=now - OLDEST)
    skipped = {"state": NoticeState.SKIPPED, "due_at": now, "ended_at": now}
    Notice.objects.bulk_create(Notice(item=item, **skipped) for item in untold)


def _drop_deliveries(now: datetime.datetime) -> None:
    """Most were taken by their receivers after the backup was made."""
    waiting = Delivery.objects.filter(state=DeliveryState.PENDING)
    waiting.update(state=DeliveryState.DROPPED, ended_at=now, error=_BECAUSE)
