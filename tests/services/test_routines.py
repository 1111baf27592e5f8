"""Routines: when they come round, around changes of the clock too, and each time once."""

from __future__ import annotations

import datetime
from functools import partial
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from agents.models import Agent, Routine, RoutineFire, WakeupSource
from agents.services.agents import pause_agent, terminate_agent
from agents.services.routines import fire_routine, next_fire, switch_routine
from issues.actors import Person
from issues.models import Activity, Company, InboxItem, InboxKind, Issue, Priority, Status
from issues.refusals import Invalid
from issues.services.companies import remove_member
from issues.services.issues import delete_issue, set_status
from tests import build
from tests.services.at_once import at_once


def utc(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)


def coming(cron: str, after: str, count: int, zone: str = "Europe/Berlin") -> list[str]:
    """The next due times, in UTC, each found from the one before."""
    routine = Routine(cron=cron, time_zone=zone)
    found: list[datetime.datetime] = []
    now = utc(after)
    for _ in range(count):
        now = next_fire(routine, after=now)
        found.append(now)
    assert all(moment.tzinfo is datetime.UTC for moment in found)
    return [f"{moment:%m-%d %H:%M}" for moment in found]


class TestClock:
    """In Berlin the clock goes forward on 29 March 2026 and back on 25 October 2026, both at 01:00 UTC."""

    def test_a_routine_keeps_to_the_wall_clock(self) -> None:
        assert coming("0 9 * * *", "2026-03-27 12:00", 3) == ["03-28 08:00", "03-29 07:00", "03-30 07:00"]
        assert coming("0 9 * * *", "2026-10-23 12:00", 3) == ["10-24 07:00", "10-25 08:00", "10-26 08:00"]

    def test_a_time_that_does_not_exist_comes_at_the_end_of_the_gap(self) -> None:
        assert coming("30 2 * * *", "2026-03-28 12:00", 2) == ["03-29 01:00", "03-30 00:30"]

    def test_a_time_that_exists_twice_comes_once(self) -> None:
        assert coming("30 2 * * *", "2026-10-24 12:00", 2) == ["10-25 00:30", "10-26 01:30"]

    @pytest.mark.parametrize("late", ["2026-10-25 00:30", "2026-10-25 00:59", "2026-10-25 01:00", "2026-10-25 01:40"])
    def test_nor_does_it_come_again_where_it_was_caught_up_within_the_doubled_hour(self, late: str) -> None:
        assert coming("30 2 * * *", late, 1) == ["10-26 01:30"]

    def test_what_comes_every_hour_comes_every_hour(self) -> None:
        assert coming("30 * * * *", "2026-03-29 00:00", 3) == ["03-29 00:30", "03-29 01:30", "03-29 02:30"]
        assert coming("30 * * * *", "2026-10-25 00:00", 3) == ["10-25 00:30", "10-25 01:30", "10-25 02:30"]

    def test_a_zone_without_changes_has_none(self) -> None:
        assert coming("30 2 * * *", "2026-03-28 12:00", 2, "UTC") == ["03-29 02:30", "03-30 02:30"]

    def test_days_of_the_week_and_the_last_of_the_month(self) -> None:
        assert coming("0 8 * * 1-5", "2026-05-01 12:00", 2, "UTC") == ["05-04 08:00", "05-05 08:00"]
        assert coming("0 8 L * *", "2026-02-01 12:00", 2, "UTC") == ["02-28 08:00", "03-31 08:00"]

    @pytest.mark.parametrize(
        "cron", ["", "* * * *", "* * * * * *", "61 * * * *", "0 0 31 2 *", "@daily", "a b c d e", "0 24 * * *", "\x00"]
    )
    def test_what_is_no_schedule_is_refused(self, cron: str) -> None:
        with pytest.raises(Invalid, match="no schedule"):
            coming(cron, "2026-05-01 12:00", 1)


NOON = utc("2026-05-04 12:00")
DAY = datetime.timedelta(days=1)


@pytest.fixture
def routine(company: Company, ada: Agent) -> Routine:
    """Every morning at nine in UTC, created at noon of 4 May 2026."""
    with time_machine.travel(NOON, tick=False):
        return build.routine(company, ada, body="@bob knows more.", priority=Priority.HIGH)


def fire(routine: Routine, now: datetime.datetime) -> RoutineFire | None:
    with time_machine.travel(now, tick=False):
        return fire_routine(routine=routine, now=now)


@pytest.mark.django_db
class TestFiring:
    def test_a_due_routine_opens_its_issue_and_wakes_its_agent(
        self, owner: Person, ada: Agent, routine: Routine
    ) -> None:
        fired = fire(routine, NOON + DAY)
        assert fired is not None
        issue = fired.issue
        assert issue is not None
        assert (issue.title, issue.priority, issue.assignee_agent) == (routine.title, Priority.HIGH, ada)
        assert issue.responsible == owner.member
        [wakeup] = build.pending(ada, issue)
        assert (wakeup.source, wakeup.depth, wakeup.is_from_person) == (WakeupSource.ROUTINE, 0, False)
        routine.refresh_from_db()
        assert routine.next_fire_at == utc("2026-05-06 09:00")
        assert Activity.objects.filter(kind="routine.fired").get().data["skipped"] is False

    @pytest.mark.parametrize("early", [datetime.timedelta(0), datetime.timedelta(hours=20, minutes=59)])
    def test_it_does_not_fire_before_its_time(self, early: datetime.timedelta, routine: Routine) -> None:
        assert fire(routine, NOON + early) is None
        assert not RoutineFire.objects.exists()

    def test_times_that_were_missed_are_caught_up_once(self, routine: Routine) -> None:
        fired = fire(routine, NOON + 10 * DAY)
        assert fired is not None
        assert fired.due_at == utc("2026-05-05 09:00")
        assert fire(routine, NOON + 10 * DAY) is None
        routine.refresh_from_db()
        assert routine.next_fire_at == utc("2026-05-15 09:00")

    def test_it_waits_for_its_open_issue_and_says_so(self, owner: Person, routine: Routine) -> None:
        first = fire(routine, NOON + DAY)
        second = fire(routine, NOON + 2 * DAY)
        assert first is not None
        assert first.issue is not None
        assert second is not None
        assert (second.issue, second.skipped_because.startswith(first.issue.identifier)) == (None, True)
        set_status(actor=owner, issue=first.issue, status=Status.DONE)
        third = fire(routine, NOON + 3 * DAY)
        assert third is not None
        assert third.issue is not None

    def test_it_waits_no_longer_than_a_week(self, routine: Routine) -> None:
        fire(routine, NOON + DAY)
        fires = [fire(routine, NOON + day * DAY) for day in range(2, 9)]
        opened = [bool(one.issue) for one in fires if one is not None]
        assert opened == [False] * 6 + [True]

    def test_a_deleted_issue_holds_nothing(self, owner: Person, routine: Routine) -> None:
        first = fire(routine, NOON + DAY)
        assert first is not None
        assert first.issue is not None
        delete_issue(actor=owner, issue=first.issue)
        second = fire(routine, NOON + 2 * DAY)
        assert second is not None
        assert second.issue is not None

    def test_one_that_is_off_does_not_fire_and_one_turned_on_begins_from_then(
        self, owner: Person, routine: Routine
    ) -> None:
        off = switch_routine(actor=owner, routine=routine, enabled=False)
        assert off.next_fire_at is None
        assert fire(routine, NOON + DAY) is None
        with time_machine.travel(NOON + 5 * DAY, tick=False):
            on = switch_routine(actor=owner, routine=routine, enabled=True)
        assert on.next_fire_at == utc("2026-05-10 09:00")

    @pytest.mark.parametrize("leaving", ["agent", "responsible"])
    def test_one_whose_people_have_left_says_so_and_goes_on_to_its_next_time(
        self, leaving: str, company: Company, owner: Person, ada: Agent
    ) -> None:
        boss = build.member(company, "boss")
        with time_machine.travel(NOON, tick=False):
            routine = build.routine(company, ada, responsible=boss.member)
        if leaving == "agent":
            terminate_agent(actor=owner, agent=ada)
        else:
            remove_member(actor=owner, member=build.member_row(boss))
        fired = fire(routine, NOON + DAY)
        assert fired is not None
        assert (fired.issue, "no longer here" in fired.skipped_because) == (None, True)
        assert not Issue.objects.exists()
        assert InboxItem.objects.get(member=owner.member).kind == InboxKind.FAILURE
        routine.refresh_from_db()
        assert routine.next_fire_at == utc("2026-05-06 09:00")

    def test_the_issue_for_a_paused_agent_is_opened_and_waits(
        self, owner: Person, ada: Agent, routine: Routine
    ) -> None:
        pause_agent(actor=owner, agent=ada)
        fired = fire(routine, NOON + DAY)
        assert fired is not None
        assert fired.issue is not None
        assert build.pending(ada) == []


@pytest.mark.django_db
class TestMaking:
    @pytest.mark.parametrize("enabled", [True, False])
    def test_a_line_that_never_comes_is_refused_even_when_off(
        self, enabled: bool, company: Company, ada: Agent
    ) -> None:
        with pytest.raises(Invalid, match="no schedule"):
            build.routine(company, ada, cron="0 0 31 2 *", enabled=enabled)

    def test_nothing_of_another_company_is_named(self, company: Company, ada: Agent) -> None:
        other, stranger = build.company_with_founder("OTHER")
        foreign: list[dict[str, Any]] = [
            {"assignee": build.agent(other)},
            {"assignee": ada, "responsible": stranger.member},
            {"assignee": ada, "project": build.project(other)},
        ]
        for names in foreign:
            with pytest.raises(Invalid, match="another company"):
                build.routine(company, **names)

    def test_a_terminated_agent_is_not_named(self, company: Company, owner: Person, ada: Agent) -> None:
        with pytest.raises(Invalid, match="terminated"):
            build.routine(company, terminate_agent(actor=owner, agent=ada))

    def test_it_goes_by_the_companys_clock_unless_said(self, owner: Person, ada: Agent) -> None:
        company, _ = build.company_with_founder("CLOCK", time_zone="Europe/Berlin")
        carl = build.agent(company, "Carl")
        assert build.routine(company, carl).time_zone == "Europe/Berlin"
        assert build.routine(company, carl, time_zone="Asia/Tokyo").time_zone == "Asia/Tokyo"

    def test_switching_to_what_it_is_changes_nothing(self, owner: Person, routine: Routine) -> None:
        switch_routine(actor=owner, routine=routine, enabled=True)
        assert not Activity.objects.filter(kind="routine.switched").exists()
        assert Routine.objects.get(pk=routine.pk).next_fire_at == routine.next_fire_at


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_", range(3))
def test_of_two_that_fire_it_at_once_one_does(_: int, company: Company, ada: Agent) -> None:
    routine = build.routine(company, ada)
    now = timezone.now() + 2 * DAY
    outcomes = at_once([partial(fire_routine, routine=routine, now=now) for _ in range(4)])
    assert [type(outcome) for outcome in outcomes if outcome is not None] == [RoutineFire]
    assert Issue.objects.count() == 1
