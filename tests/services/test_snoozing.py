"""When what was snoozed comes back."""

from __future__ import annotations

import datetime
from zoneinfo import ZoneInfo

import pytest

from issues.refusals import Invalid
from issues.snoozing import read_snooze, snooze_choices

BERLIN = ZoneInfo("Europe/Berlin")


def at(day: int, hour: int, *, month: int = 3) -> datetime.datetime:
    """In March 2027, when Monday was the 1st and clocks went forward on the 28th."""
    return datetime.datetime(2027, month, day, hour, tzinfo=BERLIN)


def test_choices_are_later_tomorrow_morning_and_next_monday_morning() -> None:
    assert {choice.word: choice.until for choice in snooze_choices(at(3, 14))} == {
        "later": at(3, 17),
        "tomorrow": at(4, 9),
        "week": at(8, 9),
    }


@pytest.mark.parametrize("day", range(1, 8))
def test_next_week_is_the_monday_to_come_on_every_day(day: int) -> None:
    assert read_snooze("week", "", at(day, 10)) == at(8, 9)


def test_late_in_the_evening_there_is_no_later_today() -> None:
    assert [choice.word for choice in snooze_choices(at(3, 22))] == ["tomorrow", "week"]
    with pytest.raises(Invalid, match="not a time to come back"):
        read_snooze("later", "", at(3, 22))


def test_morning_is_nine_on_the_clock_also_after_it_was_put_forward() -> None:
    assert read_snooze("tomorrow", "", at(27, 12)).astimezone(datetime.UTC).hour == 7


def test_a_date_is_its_morning() -> None:
    assert read_snooze("date", "2027-04-02", at(3, 14)) == at(2, 9, month=4)


@pytest.mark.parametrize("date", ["", "soon", "2027-03-03", "2027-03-02", "2028-04-01", "2027-02-30", "99999-01-01"])
def test_what_is_no_day_to_come_is_refused(date: str) -> None:
    with pytest.raises(Invalid):
        read_snooze("date", date, at(3, 14))
