"""How the installation is doing, as figures: read from the database, which all processes of all hosts share, so that it
is the whole truth whichever process is asked."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Min, Sum
from django.utils import timezone

from agents.models import Breaker, Pulse, Run, RunState, Spending, Wakeup, WakeupState
from agents.services.spending import this_month
from engine.claim import AtWork, startable

WINDOW = datetime.timedelta(hours=1)
"""How far back runs that ended are counted."""

MOST_TIMED = 2_000
"""Of these runs, the newest that are timed."""

QUANTILES = (0.5, 0.95)


@dataclass(frozen=True, slots=True)
class Vitals:
    """Times in seconds; None for what was never seen or does not exist.

    `due` wakeups could start now, the `oldest_due_seconds` says since when the first could; `pending` are all that
    wait, for a time or a limit too. `ended` are runs of the last hour by state; `run_seconds` is how long those took
    that succeeded, from claim to end, by quantile. `breakers` are addresses of models that are skipped because they
    failed, by provider.
    """

    beat_seconds: float | None
    due: int
    oldest_due_seconds: float | None
    pending: int
    running: int
    ended: Mapping[RunState, int]
    run_seconds: Mapping[float, float]
    breakers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Spent:
    """What a company has spent in the month under way."""

    company: str
    runs: int
    tokens: int
    microdollars: int


def read_vitals() -> Vitals:
    """In eight queries, none of which grows with what ever was."""
    now = timezone.now()
    beat = Pulse.objects.filter(name="tick").values_list("felt_at", flat=True).first()
    pending = Wakeup.objects.filter(state=WakeupState.PENDING)
    startable_now = startable(now, AtWork.now()).filter(waiting_because="")
    due = startable_now.aggregate(count=Count("pk"), oldest=Min("due_at"))
    ended = Run.objects.filter(ended_at__gt=now - WINDOW)
    counts = dict(ended.order_by().values_list("state").annotate(count=Count("pk")))
    timed = ended.filter(state=RunState.SUCCEEDED, started_at__isnull=False).order_by("-ended_at")
    times = timed.values_list("started_at", "ended_at")[:MOST_TIMED]
    seconds = [(end - start).total_seconds() for start, end in times if start is not None and end is not None]
    skipped = Breaker.objects.filter(open_until__gt=now)
    return Vitals(
        beat_seconds=_since(beat, now),
        due=due["count"],
        oldest_due_seconds=_since(due["oldest"], now),
        pending=pending.count(),
        running=Run.objects.live().count(),
        ended={state: counts.get(state, 0) for state in RunState if state not in (RunState.QUEUED, RunState.RUNNING)},
        run_seconds=_quantiles(sorted(seconds)),
        breakers=dict(skipped.values_list("provider").annotate(count=Count("pk")).order_by("provider")),
    )


def read_spent() -> Sequence[Spent]:
    """Of each company that has had a run this month, by key."""
    rows = Spending.objects.filter(month=this_month(), agent=None).values_list("company__key").order_by("company__key")
    sums = rows.annotate(Sum("runs"), Sum("tokens"), Sum("microdollars"))
    return [Spent(*row) for row in sums]


def _since(moment: datetime.datetime | None, now: datetime.datetime) -> float | None:
    return None if moment is None else max(0.0, (now - moment).total_seconds())


def _quantiles(ascending: Sequence[float]) -> dict[float, float]:
    return {share: ascending[int(len(ascending) * share)] for share in QUANTILES} if ascending else {}
