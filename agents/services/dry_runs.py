"""Asking for dry re-runs. The row is the job: a worker takes it, as it takes wakeups."""

from __future__ import annotations

from functools import partial

from django.db import IntegrityError, transaction

from agents import listeners
from agents.models import Adapter, DryRun, Run
from agents.models.dry_run import OPEN
from issues.activity import record
from issues.actors import Actor
from issues.effects import savepoint, service
from issues.policies import Right, require
from issues.refusals import Conflict

MOST_OPEN = 3
"""Dry re-runs of one company at a time: each keeps a worker's thread while its model thinks, beside all real work."""


@service
def ask_for_dry_run(*, actor: Actor, run: Run) -> DryRun:
    """Let the agent be asked the run's prompt once more, to see what it would do; nothing is applied. Conflict, with
    the reason, where that cannot be."""
    issue = run.issue
    member = require(actor, Right.RUN, issue if issue is not None else run.company)
    if issue is None:
        raise Conflict("The issue of this run was deleted.")
    if run.is_live:
        raise Conflict("The run is still at work.", "Wait until it has ended, or cancel it.")
    if run.adapter != Adapter.LLM:
        raise Conflict("Only what asks a model can be run dry: this agent works by itself.")
    if not run.user_message:
        raise Conflict("The prompt of this run is not kept any more." if run.prompt_built_at else "It had no prompt.")
    if DryRun.objects.filter(company=run.company, state__in=OPEN).count() >= MOST_OPEN:
        raise Conflict(f"{MOST_OPEN} dry re-runs are under way already.", "Wait until one of them has ended.")
    try:
        with savepoint():
            dry_run = DryRun.objects.create(company=run.company, run=run, member=member)
    except IntegrityError:
        raise Conflict("A dry re-run of this run is under way already.") from None
    record(actor, "run.dry_run_asked", issue, run=run.pk, dry_run=dry_run.pk)
    for bell in listeners.dry_run_bells:
        transaction.on_commit(partial(bell, dry_run.pk), robust=True)
    return dry_run
