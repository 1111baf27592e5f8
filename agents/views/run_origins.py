"""How a run came about: what woke the agent, and the chain back to the person or the clock that began it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from agents.models import ModelCall, Run, Wakeup
from issues.names import Names, Somebody


@dataclass(frozen=True, slots=True)
class Cause:
    """A wakeup that the run delivered, and who asked for it; nobody: Trimus itself."""

    wakeup: Wakeup
    by: Somebody | None


@dataclass(frozen=True, slots=True)
class Link:
    """A step of the chain from the person, or the clock, to this run."""

    wakeup: Wakeup
    by: Somebody | None
    agent: Somebody | None
    run: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of the run's life; `after` is since the moment before, in seconds."""

    name: str
    at: datetime.datetime
    after: float | None


def wakeups_of(run: Run) -> list[Wakeup]:
    """The wakeups that the run delivered; of one that failed or was lost, those that it gave back."""
    rows = Wakeup.objects.select_related("comment", "approval", "subject_issue").order_by("pk")
    delivered = list(rows.filter(run=run))
    if delivered or run.chain is None:
        return delivered
    return list(rows.filter(agent=run.agent_id, issue=run.issue_id, chain=run.chain, created_at__lte=run.created_at))


def causes_of(wakeups: Sequence[Wakeup], names: Names) -> list[Cause]:
    return [Cause(row, names.somebody(agent=row.by_agent_id, member=row.member_id)) for row in wakeups]


def chain_of(run: Run, wakeups: Sequence[Wakeup], names: Names) -> list[Link]:
    """From the beginning of the chain to this run: who woke whom, in which run. One query."""
    if run.chain is None or all(wakeup.pk == run.chain for wakeup in wakeups):
        return []  # nobody stands between
    delivered = Wakeup.objects.filter(company=run.company, chain=run.chain, run__isnull=False).order_by("pk")
    by_run: dict[int, Wakeup] = {}
    for row in delivered.defer("note"):
        if row.run_id is not None:
            by_run.setdefault(row.run_id, row)
    links: list[Link] = []
    step: Wakeup | None = by_run.get(run.pk)
    while step is not None and len(links) < len(by_run):
        by = names.somebody(agent=step.by_agent_id, member=step.member_id)
        links.append(Link(step, by, names.agents.get(step.agent_id), step.run_id))
        step = by_run.get(step.cause_run_id) if step.cause_run_id is not None else None
    return links[::-1]


def moments_of(run: Run, wakeups: Sequence[Wakeup], calls: Sequence[ModelCall]) -> list[Moment]:
    """Queued, started, asked, first answer, ended: those that have come, in order."""
    queued = min([wakeup.created_at for wakeup in wakeups], default=run.created_at)
    answers = [call.started_at + datetime.timedelta(seconds=call.seconds) for call in calls if not call.error_kind]
    known = {
        "Queued": queued,
        "Started": run.started_at,
        "Prompt built": run.prompt_built_at,
        "First answer": min(answers, default=run.replied_at),
        "Ended": run.ended_at,
    }
    moments: list[Moment] = []
    for name, at in known.items():
        if at is not None:
            # Clocks of two machines may differ; nothing here went backwards.
            after = max((at - moments[-1].at).total_seconds(), 0.0) if moments else None
            moments.append(Moment(name, at, after))
    return moments
