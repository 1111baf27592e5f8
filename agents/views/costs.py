"""Costs of a month: by day, agent, project, model and issue. Every call of a model counts, whatever became of it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from agents.costs import FIGURES, MODEL, calls_of, following, read_month
from agents.models import Budget, ModelCall
from agents.services.spending import this_month
from issues.charts import draw
from issues.names import Names
from issues.pages import Visit, company_page, show
from issues.spreadsheets import Cell, csv_answer

MOST_ISSUES = 20
ROWS_AT_ONCE = 1_000
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Share:
    """What one agent, project, model, issue or day cost. `money` is None where no price is known."""

    name: str
    address: str
    calls: int
    tokens: int
    money: int | None
    unpriced: int
    percent: int
    """Of the dearest in its table, or of the one with the most tokens where nothing has a price."""


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    of: str
    rows: tuple[Share, ...]


@require_safe
@company_page
def costs(request: HttpRequest, visit: Visit) -> HttpResponse:
    """`month` is one like 2026-11, in UTC as budgets are; the present one unless asked."""
    month = _month(request)
    after = following(month)
    calls = calls_of(visit.company, month)
    days = _days(calls, month, after)
    totals = calls.aggregate(**FIGURES)
    measure = "money" if totals["money"] else "tokens"
    context = {
        "at": reverse("costs", args=[visit.company.slug]),
        "month": month,
        "before": (month - datetime.timedelta(days=1)).replace(day=1),
        "after": after if after <= this_month() else None,
        "totals": totals,
        "measure": measure,
        "chart": draw([(day.name, getattr(day, measure) or 0) for day in days], width=720, height=120),
        "last_day": min(after - datetime.timedelta(days=1), datetime.datetime.now(datetime.UTC).date()),
        "days": [day for day in days if day.calls],
        "tables": _tables(visit, calls),
        "budget": Budget.objects.filter(company=visit.company, agent=None).first(),
    }
    return show(request, visit, "agents/costs.html", context)


@require_safe
@company_page
def costs_table(request: HttpRequest, visit: Visit) -> StreamingHttpResponse:
    """The month for a spreadsheet: a row for each day, agent, model and issue."""
    month = _month(request)
    return csv_answer(f"{visit.company.slug}-costs-{month:%Y-%m}.csv", _HEADER, _rows(visit, month))


_HEADER = (
    "Day (UTC)", "Agent", "Handle", "Project", "Issue", "Title", "Provider", "Model", "For", "Calls", "Input tokens",
    "Cached of them", "Output tokens", "Reasoning of them", "Cost (USD)", "Calls without a known price",
)  # fmt: skip


def _rows(visit: Visit, month: datetime.date) -> Iterator[Sequence[Cell]]:
    """The cost is empty where no call has a known price, which is not the same as nothing."""
    keys = (
        "day", "run__agent__name", "run__agent__handle", "run__issue__project__name", "run__issue__number",
        "run__issue__title", "provider", "named", "purpose",
    )  # fmt: skip
    sums = {name: Sum(f"{name}_tokens") for name in ("input", "cached", "output", "reasoning")}
    calls = calls_of(visit.company, month).annotate(day=TruncDate("started_at", tzinfo=datetime.UTC), named=MODEL)
    rows: Any = calls.order_by().values(*keys).annotate(**FIGURES, **sums).order_by(*keys)
    for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
        number, money = row["run__issue__number"], row["money"]
        yield (
            f"{row['day']:%Y-%m-%d}",
            row["run__agent__name"],
            row["run__agent__handle"],
            row["run__issue__project__name"],
            f"{visit.company.key}-{number}" if number else "",
            row["run__issue__title"],
            row["provider"],
            row["named"],
            row["purpose"],
            row["calls"],
            row["input"],
            row["cached"],
            row["output"],
            row["reasoning"],
            None if money is None else money / MICRO,
            row["unpriced"],
        )


def _month(request: HttpRequest) -> datetime.date:
    """The month that the address names, else the present one."""
    present = this_month()
    return read_month(request.GET.get("month", ""), latest=present) or present


def _days(calls: QuerySet[ModelCall], month: datetime.date, after: datetime.date) -> list[Share]:
    """Every day of the month up to today, those without a call too."""
    day = TruncDate("started_at", tzinfo=datetime.UTC)
    rows: dict[datetime.date, Any] = {
        row["day"]: row for row in calls.annotate(day=day).order_by().values("day").annotate(**FIGURES)
    }
    today = datetime.datetime.now(datetime.UTC).date()
    nothing = {"calls": 0, "tokens": 0, "money": 0, "unpriced": 0}
    days = []
    while month < after and month <= today:
        row = rows.get(month, nothing)
        figures = {name: row[name] for name in nothing}
        days.append(Share(name=f"{month:%-d %b}", address="", percent=0, **figures))
        month += datetime.timedelta(days=1)
    return days


def _tables(visit: Visit, calls: QuerySet[ModelCall]) -> list[Table]:
    slug = visit.company.slug
    agents = Names(visit.company).agents

    def by_agent(row: dict[str, Any]) -> tuple[str, str]:
        agent = agents.get(row["run__agent"] or 0)
        return (agent.name, reverse("agent", args=[slug, agent.handle])) if agent else ("Beside runs", "")

    def by_project(row: dict[str, Any]) -> tuple[str, str]:
        pk = row["run__issue__project"]
        return (row["run__issue__project__name"], reverse("project", args=[slug, pk])) if pk else ("No project", "")

    def by_issue(row: dict[str, Any]) -> tuple[str, str]:
        number = row["run__issue__number"]
        if number is None:
            return "No issue, or one that was deleted", ""
        identifier = f"{visit.company.key}-{number}"
        return f"{identifier} {row['run__issue__title']}", reverse("issue", args=[slug, identifier])

    project = calls.values("run__issue__project", "run__issue__project__name")
    issue = calls.values("run__issue__number", "run__issue__title")
    return [
        Table("By agent", "Agent", _shares(calls.values("run__agent"), by_agent)),
        Table("By model", "Model", _shares(calls.values(named=MODEL), lambda row: (row["named"], ""))),
        Table("By project", "Project", _shares(project, by_project)),
        Table("By issue", "Issue", _shares(issue, by_issue, most=MOST_ISSUES)),
    ]


def _shares(grouped: Any, named: Any, *, most: int = 200) -> tuple[Share, ...]:
    """The dearest first; where nothing has a price, those with the most tokens."""
    rows = list(grouped.annotate(**FIGURES).order_by(F("money").desc(nulls_last=True), "-tokens")[:most])
    by_money = any(row["money"] for row in rows)
    measure = "money" if by_money else "tokens"
    highest = max((row[measure] or 0 for row in rows), default=0)
    shares = []
    for row in rows:
        name, address = named(row)
        figures = {key: row[key] for key in FIGURES}
        shares.append(Share(name, address, percent=100 * (row[measure] or 0) // max(highest, 1), **figures))
    return tuple(shares)
