"""The hours in which an agent looks for work itself, and when its next round is."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from dataclasses import dataclass
from typing import Self

from agents.models import Agent

_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Hours:
    """From a time of day until another one, in a time zone; past midnight where the second is not later."""

    start: datetime.time
    end: datetime.time
    zone: zoneinfo.ZoneInfo

    @classmethod
    def read(cls, text: str, zone: str) -> Self:
        """From `08:00-18:00`. Raises ValueError, also for hours without length."""
        found = _HOURS.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"“{text}” names no hours.")
        first, second, third, fourth = map(int, found.groups())
        start, end = datetime.time(first, second), datetime.time(third, fourth)
        if start == end:
            raise ValueError(f"“{text}” has no length.")
        return cls(start, end, zoneinfo.ZoneInfo(zone))

    def __str__(self) -> str:
        return f"{self.start:%H:%M}-{self.end:%H:%M}"

    def hold(self, moment: datetime.datetime) -> bool:
        """Whether the moment lies within."""
        now = moment.astimezone(self.zone).time()
        if self.start < self.end:
            return self.start <= now < self.end
        return now >= self.start or now < self.end

    def first_from(self, moment: datetime.datetime) -> datetime.datetime:
        """The moment, if it lies within; else the next start. One that the clocks leap over is an hour later."""
        if self.hold(moment):
            return moment
        today = moment.astimezone(self.zone).date()
        starts = (
            datetime.datetime.combine(today + datetime.timedelta(days=days), self.start, self.zone) for days in (0, 1)
        )
        return next(start for start in (one.astimezone(datetime.UTC) for one in starts) if start > moment)


def hours_of(agent: Agent) -> Hours | None:
    """None: at any hour."""
    return Hours.read(agent.active_hours, agent.company.time_zone) if agent.active_hours else None


def next_round(agent: Agent, now: datetime.datetime) -> datetime.datetime | None:
    """When the agent looks for work after now: its interval later, within its hours. None: never by itself."""
    if agent.schedule_minutes is None:
        return None
    following = now + datetime.timedelta(minutes=agent.schedule_minutes)
    hours = hours_of(agent)
    return hours.first_from(following) if hours is not None else following
