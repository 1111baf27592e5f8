"""Runs and spending of the last two weeks, a column a day of the reader's own zone."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import formats, timezone

from agents.models import ModelCall, Run
from issues.charts import Chart, draw
from issues.models import Company

DAYS = 14


@dataclass(frozen=True, slots=True)
class Fortnight:
    """`unpriced` are calls of models whose price nobody knows: they are missing in the spending."""

    runs: Chart
    failed: int
    spending: Chart
    unpriced: int


def read_fortnight(company: Company) -> Fortnight:
    today = timezone.localdate()
    days = [today - datetime.timedelta(days=back) for back in reversed(range(DAYS))]
    begin = timezone.make_aware(datetime.datetime.combine(days[0], datetime.time.min))
    ran = Run.objects.filter(company=company, created_at__gte=begin).annotate(day=TruncDate("created_at"))
    runs = list(
        ran.order_by()
        .values("day")
        .annotate(all=Count("pk"), failed=Count("pk", filter=Q(state__in=("failed", "lost"))))
    )
    called = ModelCall.objects.filter(company=company, started_at__gte=begin).annotate(day=TruncDate("started_at"))
    unpriced = Count("pk", filter=Q(cost_microdollars=None, error_kind=""))
    calls = list(called.order_by().values("day").annotate(cost=Sum("cost_microdollars"), unpriced=unpriced))
    return Fortnight(
        runs=draw(_each(days, {row["day"]: row["all"] for row in runs})),
        failed=sum(row["failed"] for row in runs),
        spending=draw(_each(days, {row["day"]: row["cost"] or 0 for row in calls})),
        unpriced=sum(row["unpriced"] for row in calls),
    )


def _each(days: list[datetime.date], values: Mapping[datetime.date, int]) -> list[tuple[str, int]]:
    return [(formats.date_format(day, "j M"), values.get(day, 0)) for day in days]
