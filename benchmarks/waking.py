"""What `benchmarks.wakeups` does inside of a stack: a company, and its agents woken."""

from __future__ import annotations

import time
from collections.abc import Sequence

from agents.models import Agent, Run, RunState, Wakeup, WakeupState
from issues.actors import SYSTEM
from issues.effects import Wake, unit, wake
from issues.models import Status
from issues.sources import WakeupSource
from tests import build

PATIENCE_SECONDS = 300
PAUSE_SECONDS = 0.3
WARM_UP = 3


def found(groups: Sequence[tuple[int, float]]) -> None:
    """A company with groups of so many agents whose model takes so many seconds. Each has an issue that wakes nobody
    yet."""
    company, _ = build.company_with_founder(max_concurrent_runs=1_000, runs_per_hour=10_000)
    for count, seconds in groups:
        script = f'- delay: {seconds}\n  reply: "Done as asked.\\n\\n/priority high"'
        for number in range(count):
            agent = build.agent(company, f"Agent {number}", role=_group(seconds), provider="scripted", script=script)
            build.issue(company, assignee=agent, status=Status.BACKLOG)


def time_starts(seconds: float, wakeups: int) -> list[float]:
    """Wake one agent so many times, each when the run before has ended; seconds from the commit until its run had been
    claimed."""
    agent = Agent.objects.filter(role=_group(seconds)).earliest("pk")
    taken = []
    for _ in range(WARM_UP + wakeups):
        woken_at = _wake([agent])
        wakeup = Wakeup.objects.latest("pk")
        while wakeup.state in (WakeupState.PENDING, WakeupState.CLAIMED):
            time.sleep(0.02)
            wakeup.refresh_from_db()
        assert wakeup.run is not None
        assert wakeup.run.started_at is not None
        taken.append(wakeup.run.started_at.timestamp() - woken_at)
        time.sleep(PAUSE_SECONDS)
    return taken[WARM_UP:]


def time_wave(seconds: float) -> tuple[float, float]:
    """Wake the whole group in one transaction; seconds from its commit until the last run had been claimed, and until
    the last had ended."""
    last = Run.objects.order_by("pk").values_list("pk", flat=True).last() or 0
    agents = list(Agent.objects.filter(role=_group(seconds)))
    woken_at = _wake(agents)
    deadline = time.monotonic() + PATIENCE_SECONDS
    wave = Run.objects.filter(pk__gt=last)
    while wave.filter(ended_at__isnull=False).count() < len(agents):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{wave.filter(ended_at=None).count()} runs have not ended")
        time.sleep(0.1)
    assert not wave.exclude(state=RunState.SUCCEEDED).exists()
    times = wave.values_list("started_at", "ended_at")
    started = max(start.timestamp() for start, _ in times if start is not None)
    ended = max(end.timestamp() for _, end in times if end is not None)
    return started - woken_at, ended - woken_at


def _group(seconds: float) -> str:
    return f"thinks {seconds:g} s"


def _wake(agents: Sequence[Agent]) -> float:
    """Wake each on its issue; when that was committed."""
    with unit():
        for agent in agents:
            issue = agent.assigned_issues.select_related("company").latest("pk")
            wake(Wake(agent_id=agent.pk, issue=issue, source=WakeupSource.MENTION, actor=SYSTEM, reason="Look."))
    return time.time()
