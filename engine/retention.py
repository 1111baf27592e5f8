"""Dropping the texts of runs and the messages to webhooks that grew old, after as many days as their company says.
Figures, actions and comments stay."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Case, CharField, Q, Value, When
from django.utils import timezone

from agents.models import DryRun, Pulse, Run, RunOutput
from issues.models import Company
from issues.services.deliveries import drop_old

EVERY = timedelta(hours=1)
"""Looking costs a walk over a company's runs, and an hour does not matter to what lay for days."""

MOST_AT_ONCE = 1_000
"""Of one company in one go: a short write each hour, and not one that holds everybody up."""

MOST_DELIVERIES = 20_000
"""The same of messages, which are small: more than a busy company sends in an hour."""


def drop_old_texts() -> None:
    """Once an hour; whoever looks meanwhile does nothing."""
    now = timezone.now()
    if not Pulse.objects.take_turn("retention", every=EVERY):
        return
    for company in Company.objects.only("retention_days"):
        moment = now - timedelta(days=company.retention_days)
        _drop_before(company, moment)
        drop_old(company, moment, MOST_DELIVERIES)


def _drop_before(company: Company, moment: datetime) -> None:
    has_texts = ~Q(system_message="", user_message="") | ~Q(reply="") & Q(reply__isnull=False)
    old = Run.objects.filter(has_texts, company=company, ended_at__lt=moment).order_by("pk")
    chosen = list(old.values_list("pk", flat=True)[:MOST_AT_ONCE])
    # A reply that there was stays one, if an empty one: that a run was answered is a fact, and no text.
    emptied = Case(When(reply__isnull=False, then=Value("")), default=None, output_field=CharField(null=True))
    DryRun.objects.filter(run__in=chosen, ended_at__lt=moment).delete()
    RunOutput.objects.filter(run__in=chosen).delete()
    Run.objects.filter(pk__in=chosen).update(
        system_message="", user_message="", prompt_sections=[], reply=emptied, dropped=[]
    )
