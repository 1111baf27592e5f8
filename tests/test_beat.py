"""The beat goes on whatever is done to the system's clock."""

from __future__ import annotations

import datetime
import time

import pytest
import time_machine

from trimus.beat import SteadyScheduler
from trimus.celery import app


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks that were sent."""
    names: list[str] = []
    monkeypatch.setattr(SteadyScheduler, "apply_entry", lambda _self, entry, **_: names.append(entry.task))
    return names


def beat_for(scheduler: SteadyScheduler, seconds: float) -> None:
    """Run it as Celery's service does."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(max(0.0, min(scheduler.tick(), 0.05)))


@pytest.mark.parametrize("hours", [-1, 1])
def test_it_ticks_on_when_the_clock_is_set(hours: int, sent: list[str]) -> None:
    scheduler = SteadyScheduler(app=app, lazy=True)
    scheduler.update_from_dict({"tick": {"task": "tick", "schedule": 0.2}})
    beat_for(scheduler, 0.5)
    before = len(sent)
    assert before > 0
    with time_machine.travel(datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hours)):
        beat_for(scheduler, 1.0)
    assert 2 <= len(sent) - before <= 6, "neither silent nor all at once"
