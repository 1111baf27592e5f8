"""The hours in which an agent looks for work itself."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.hours import Hours
from agents.models import Agent
from agents.services.agents import edit_agent
from issues.actors import Person

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("hours", "moment", "first"),
    [
        ("08:00-18:00", "2026-11-30T09:30+01:00", "2026-11-30T09:30+01:00"),
        ("08:00-18:00", "2026-11-30T08:00+01:00", "2026-11-30T08:00+01:00"),
        ("08:00-18:00", "2026-11-30T18:00+01:00", "2026-12-01T08:00+01:00"),
        ("08:00-18:00", "2026-11-30T06:59+00:00", "2026-11-30T08:00+01:00"),
        ("22:00-06:00", "2026-11-30T23:30+01:00", "2026-11-30T23:30+01:00"),
        ("22:00-06:00", "2026-11-30T05:59+01:00", "2026-11-30T05:59+01:00"),
        ("22:00-06:00", "2026-11-30T12:00+01:00", "2026-11-30T22:00+01:00"),
    ],
)
def test_work_is_looked_for_at_once_within_the_hours_and_else_when_they_begin(
    hours: str, moment: str, first: str
) -> None:
    assert Hours.read(hours, BERLIN).first_from(at(moment)) == at(first)


def test_hours_are_of_the_clock_on_the_wall_when_it_is_changed() -> None:
    morning = Hours.read("08:00-09:00", BERLIN)
    assert morning.first_from(at("2026-03-28T12:00+01:00")) == at("2026-03-29T08:00+02:00")
    assert morning.first_from(at("2026-10-24T12:00+02:00")) == at("2026-10-25T08:00+01:00")


def test_a_start_that_the_clock_leaps_over_comes_an_hour_later() -> None:
    assert Hours.read("02:30-05:00", BERLIN).first_from(at("2026-03-29T00:30+01:00")) == at("2026-03-29T03:30+02:00")


@given(
    st.times(), st.times(), st.datetimes(at("2020-01-01T00:00").replace(tzinfo=None), timezones=st.just(datetime.UTC))
)
def test_the_next_round_is_never_in_the_past_and_at_most_a_day_and_an_hour_away(
    start: datetime.time, end: datetime.time, moment: datetime.datetime
) -> None:
    text = f"{start:%H:%M}-{end:%H:%M}"
    if text[:5] == text[6:] or moment.year > 9000:
        return
    first = Hours.read(text, BERLIN).first_from(moment)
    assert moment <= first <= moment + datetime.timedelta(hours=25)


@pytest.mark.django_db
def test_an_interval_that_ends_outside_waits_for_the_hours(ada: Agent, owner: Person) -> None:
    hours = Hours.read("03:00-03:01", ada.company.time_zone)
    scheduled = edit_agent(actor=owner, agent=ada, schedule_minutes=30, active_hours="03:00 - 03:01")
    assert scheduled.active_hours == "03:00-03:01"
    assert scheduled.next_schedule_at is not None
    assert hours.hold(scheduled.next_schedule_at)
