"""Until when something is put out of sight. Pure: the present time comes in, in the person's own zone."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from issues.refusals import Invalid

LATER = datetime.timedelta(hours=3)
MORNING = datetime.time(9)
FARTHEST = datetime.timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Choice:
    """A time to come, by the word that a form sends and the one that people read."""

    word: str
    label: str
    until: datetime.datetime


def snooze_choices(now: datetime.datetime) -> list[Choice]:
    """What can be chosen now. Late in the evening there is no later today."""
    today = now.date()
    later = Choice("later", "Later today", now + LATER)
    return [
        *([later] if later.until.date() == today else []),
        Choice("tomorrow", "Tomorrow", _morning(today + datetime.timedelta(days=1), now)),
        Choice("week", "Next week", _morning(today + datetime.timedelta(days=7 - today.weekday()), now)),
    ]


def read_snooze(word: str, date: str, now: datetime.datetime) -> datetime.datetime:
    """The time of a form's `word`, or the morning of its date (`2027-01-31`). Invalid for anything else."""
    if word == "date":
        return _of_date(date, now)
    for choice in snooze_choices(now):
        if choice.word == word:
            return choice.until
    raise Invalid(f"“{word}” is not a time to come back.", field="until")


def _of_date(date: str, now: datetime.datetime) -> datetime.datetime:
    try:
        day = datetime.date.fromisoformat(date)
    except ValueError:
        raise Invalid("That is not a date.", "Choose a day to come.", field="date") from None
    if not now.date() < day <= now.date() + FARTHEST:
        raise Invalid("Choose a day between tomorrow and a year from now.", field="date")
    return _morning(day, now)


def _morning(day: datetime.date, now: datetime.datetime) -> datetime.datetime:
    return datetime.datetime.combine(day, MORNING, tzinfo=now.tzinfo)
