"""What calls of models cost in a month, in UTC as budgets are. Every call counts, whatever became of it."""

from __future__ import annotations

import datetime
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, NullIf

from agents.models import ModelCall
from issues.models import Company

MODEL = Coalesce(NullIf(F("answered_model"), Value("")), F("model"))
"""The model that answered, or that was asked."""

FIGURES: dict[str, Any] = {
    "calls": Count("pk"),
    "tokens": Sum(F("input_tokens") + F("output_tokens")),
    "money": Sum("cost_microdollars"),
    "unpriced": Count(
        "pk", filter=Q(cost_microdollars=None) & (Q(input_tokens__gt=0) | Q(output_tokens__gt=0))
    ),
}  # fmt: skip
"""Sums of calls. `money` is in micro-dollars, None where no price is known."""

_FIRST = datetime.date(2000, 1, 1)


def calls_of(company: Company, month: datetime.date) -> QuerySet[ModelCall]:
    """The company's calls of the month that begins on that day."""
    begin, end = _midnight(month), _midnight(following(month))
    return ModelCall.objects.filter(company=company, started_at__gte=begin, started_at__lt=end)


def read_month(written: str, *, latest: datetime.date) -> datetime.date | None:
    """The first day of a month like `2026-11`; None for what is none, or one that no call can be of."""
    try:
        month = datetime.datetime.strptime(written, "%Y-%m").replace(tzinfo=datetime.UTC).date()
    except ValueError:
        return None
    return month if _FIRST <= month <= latest else None


def following(month: datetime.date) -> datetime.date:
    """The first day of the next month."""
    return (month + datetime.timedelta(days=31)).replace(day=1)


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time.min, tzinfo=datetime.UTC)
