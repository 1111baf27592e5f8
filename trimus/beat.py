"""The beat: tells the workers every few seconds to look what is due. One is enough, a second does no harm.

It sends a task by its name and needs neither the models nor the tasks, so it is started without them
(`python -m trimus.beat`), at half the memory.
"""

from __future__ import annotations

import datetime
import logging
import sys
import time
from typing import Any

from celery.beat import ScheduleEntry, Scheduler, SchedulingError
from celery.schedules import maybe_schedule

from trimus import lifeline, presence
from trimus.celery import app

logger = logging.getLogger(__name__)

_BEGAN = datetime.datetime.now(datetime.UTC)
_BEGAN_MONOTONIC = time.monotonic()


def steady_now() -> datetime.datetime:
    """When this process began, and what has passed since on the clock that nobody sets."""
    return _BEGAN + datetime.timedelta(seconds=time.monotonic() - _BEGAN_MONOTONIC)


class SteadyEntry(ScheduleEntry):
    """Celery asks the system's clock when a tick was and when the next one is: set back an hour, it would wait for so
    long, and nothing would be found meanwhile."""

    def __init__(self, *args: Any, schedule: Any = None, **fields: Any) -> None:
        on_steady_clock = maybe_schedule(schedule)
        on_steady_clock.nowfun = steady_now
        super().__init__(*args, schedule=on_steady_clock, **fields)


class SteadyScheduler(Scheduler):
    """Celery's scheduler, in memory, with entries that go by the steady clock.

    Each tick is sent over a connection of the pool, as bells are. Celery's one connection for all of them is not made
    anew when a RabbitMQ that was away is back: no tick would come any more.
    """

    Entry = SteadyEntry
    producer = None

    def apply_entry(self, entry: ScheduleEntry, producer: None = None) -> None:
        """Send the task. One that cannot be sent is said in a line: the next one comes soon."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            logger.warning("%s", error)


def run() -> None:
    """Tick until told to end."""
    presence.hold()
    app.Beat(quiet=True, loglevel="INFO").start_scheduler()


if __name__ == "__main__":
    if lifeline.OPTION in sys.argv:
        lifeline.hold()
    run()
