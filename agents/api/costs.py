"""What calls of models cost: a month of a company, by day, agent, model, project or issue."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.db.models.functions import TruncDate
from rest_framework import serializers

from agents.costs import FIGURES, MODEL, calls_of, read_month
from agents.services.spending import this_month
from issues.refusals import Forbidden, Invalid
from issues.rest.scope import scope_of
from issues.rest.shapes import Query, Shape
from issues.rest.views import Resource, operation

TAG = "Budgets and costs"
MOST_ROWS = 200


class FiguresShape(Shape):
    """What some calls took together."""

    calls = serializers.IntegerField()
    tokens = serializers.IntegerField()
    microdollars = serializers.IntegerField(
        allow_null=True, help_text="Millionths of a US dollar; null where no call has a known price."
    )
    unpriced_calls = serializers.IntegerField(help_text="Calls of models without a known price: not in the money.")


class CostShape(FiguresShape):
    """What one day, agent, model, project or issue took."""

    of = serializers.CharField(
        allow_null=True,
        help_text="A date, handle, model, project or identifier; null for calls that have none.",
    )


class CostsShape(Shape):
    """What a company's calls of models took in a month."""

    company = serializers.CharField()
    month = serializers.CharField(help_text="`2026-11`, in UTC.")
    by = serializers.CharField()
    total = FiguresShape()
    rows = CostShape(many=True)


@dataclass(frozen=True, slots=True)
class Figures:
    calls: int
    tokens: int
    microdollars: int | None
    unpriced_calls: int
    of: str | None = None


@dataclass(frozen=True, slots=True)
class CostsOfMonth:
    company: str
    month: str
    by: str
    total: Figures
    rows: Sequence[Figures]


_BY: Mapping[str, Any] = {
    "day": TruncDate("started_at", tzinfo=datetime.UTC),
    "agent": F("run__agent__handle"),
    "model": MODEL,
    "project": F("run__issue__project__name"),
    "issue": F("run__issue__number"),
}


class CostsQuery(Query):
    company = serializers.CharField(
        required=False, default="", max_length=10, help_text="Key of the company; needed by who is in several."
    )
    month = serializers.CharField(required=False, max_length=7, help_text="`2026-11`; the present one unless said.")
    by = serializers.ChoiceField(choices=list(_BY), required=False, default="day")


class Costs(Resource):
    @operation("Get costs", tag=TAG, query=CostsQuery, answer=CostsShape)
    def get(self, *, query: Mapping[str, Any]) -> CostsOfMonth:
        """Of a month: days in their order, all else the dearest first, 200 rows at most. People only."""
        scope = scope_of(self.actor, query["company"])
        if scope.agent_id is not None:
            raise Forbidden("What others cost is the board's to read.", "Your own budget is at agents/ID/budget.")
        month = _month(query.get("month"))
        calls = calls_of(scope.company, month)
        by = query["by"]
        order: list[Any] = ["of"] if by == "day" else [F("money").desc(nulls_last=True), "-tokens", "of"]
        rows = calls.annotate(of=_BY[by]).order_by().values("of").annotate(**FIGURES).order_by(*order)
        before = f"{scope.company.key}-" if by == "issue" else ""
        return CostsOfMonth(
            company=scope.company.key,
            month=f"{month:%Y-%m}",
            by=by,
            total=_figures(calls.aggregate(**FIGURES), None),
            rows=[_figures(row, f"{before}{row['of']}" if row["of"] is not None else None) for row in rows[:MOST_ROWS]],
        )


def _month(written: str | None) -> datetime.date:
    present = this_month()
    if written is None:
        return present
    month = read_month(written, latest=present)
    if month is None:
        raise Invalid(f"“{written}” is no month that calls can be of.", "Write it as 2026-11.", field="month")
    return month


def _figures(row: Mapping[str, Any], of: str | None) -> Figures:
    return Figures(row["calls"], row["tokens"] or 0, row["money"], row["unpriced"], of)
