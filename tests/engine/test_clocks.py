"""The system's clock is set back or forward by an hour: what waits keeps its wait, nothing is lost or done twice."""

from __future__ import annotations

import datetime

import pytest
import time_machine
from django.utils import timezone

from agents.models import Agent, Pulse, Reservation, Run, RunState, Spending, Wakeup
from agents.services.agents import edit_agent
from engine import sweep
from engine.claim import claim_next
from engine.clock import CLOCKS_DIFFER, follow_clock
from engine.heartbeat import heartbeat
from engine.sweep import fire_routines, wake_scheduled
from issues.actors import Person
from issues.models import Company, Issue
from issues.services.companies import change_company
from tests import build
from tests.engine.running import FakeModel, run_all
from tests.engine.test_claiming import mention, quiet_issue
from tests.engine.test_leases import in_thread, wait_until
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = datetime.timedelta(hours=1)
MINUTE = datetime.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def silent_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "ring", lambda: True)


def in_(passed: datetime.timedelta) -> time_machine.travel:
    """That much later, or earlier, by the system's clock; it runs on from there."""
    return time_machine.travel(timezone.now() + passed, tick=True)


class TestWakeups:
    def test_what_was_due_is_due_at_the_next_tick_after_the_clock_was_set_back(self, issue: Issue) -> None:
        sweep.sweep()
        with in_(-HOUR):
            assert claim_next() is None
            sweep.sweep()
            assert claim_next() is not None

    def test_a_retry_keeps_its_wait_when_the_clock_is_set_back(self, company: Company, ada: Agent) -> None:
        mention(ada, quiet_issue(company))
        Wakeup.objects.update(due_at=timezone.now() + 10 * MINUTE, tries=1)
        sweep.sweep()
        with in_(-HOUR):
            sweep.sweep()
            waits = Wakeup.objects.get().due_at - timezone.now()
            assert 9 * MINUTE < waits <= 10 * MINUTE

    def test_two_ticks_at_once_take_the_hour_off_once(self, issue: Issue) -> None:
        now = timezone.now()
        Wakeup.objects.update(due_at=now + HOUR + 10 * MINUTE)
        Pulse.objects.create(name="tick", felt_at=now + HOUR)
        at_once([follow_clock] * 4)
        assert 9 * MINUTE < Wakeup.objects.get().due_at - timezone.now() <= 10 * MINUTE

    def test_hosts_whose_clocks_differ_a_little_put_nothing_off(self, issue: Issue) -> None:
        due = timezone.now() + 10 * MINUTE
        Wakeup.objects.update(due_at=due)
        Pulse.objects.create(name="tick", felt_at=timezone.now() + CLOCKS_DIFFER / 2)
        follow_clock()
        assert Wakeup.objects.get().due_at == due

    def test_a_clock_that_is_set_forward_holds_up_nothing(self, issue: Issue) -> None:
        sweep.sweep()
        with in_(HOUR):
            sweep.sweep()
            assert [run.state for run in run_all()] == [RunState.SUCCEEDED]

    def test_runs_that_seem_to_come_from_the_future_do_not_count_as_this_hours(
        self, company: Company, ada: Agent, owner: Person
    ) -> None:
        change_company(actor=owner, company=company, runs_per_hour=1)
        quiet = quiet_issue(company)
        mention(ada, quiet)
        run_all()
        with in_(-HOUR):
            mention(ada, quiet)
            assert len(run_all()) == 1


class TestRuns:
    @pytest.mark.parametrize("jump", [-HOUR, HOUR])
    def test_a_run_under_way_is_kept_alive_and_asked_once(
        self, jump: datetime.timedelta, issue: Issue, model: FakeModel
    ) -> None:
        run = claim_next()
        assert run is not None
        Run.objects.update(lease_seconds=1)
        run.lease_seconds = 1
        model.seconds = 2.0
        thread = in_thread(run)
        wait_until(lambda: model.requests)
        with in_(jump):
            wait_until(lambda: Run.objects.get().lease_counter >= 2)
            thread.join(20)
        run.refresh_from_db()
        assert run.state == RunState.SUCCEEDED
        assert len(model.requests) == 1

    def test_a_clock_that_is_set_back_gives_a_run_no_more_time(self, issue: Issue, model: FakeModel) -> None:
        run = claim_next()
        assert run is not None
        model.answers = ["", "Noted."]  # nothing, and asked once more
        model.meanwhile = lambda: clock.start()
        clock = in_(-HOUR)
        try:
            heartbeat(run)
        finally:
            clock.stop()
        first, second = (request.deadline_seconds for request in model.requests)
        assert second <= first <= 600


class TestWhatComesRound:
    def test_an_agents_interval_stays_as_long_as_it_is(self, ada: Agent, owner: Person, issue: Issue) -> None:
        edit_agent(actor=owner, agent=ada, schedule_minutes=5)
        sweep.sweep()
        with in_(-HOUR):
            sweep.sweep()
            ada.refresh_from_db()
            assert ada.next_schedule_at is not None
            assert 4 * MINUTE < ada.next_schedule_at - timezone.now() <= 5 * MINUTE

    def test_an_interval_that_was_jumped_over_wakes_once(self, ada: Agent, owner: Person, issue: Issue) -> None:
        edit_agent(actor=owner, agent=ada, schedule_minutes=5)
        Wakeup.objects.all().delete()
        with in_(HOUR):
            wake_scheduled()
            wake_scheduled()
            assert [wakeup.joined for wakeup in build.pending(ada)] == [0]

    def test_a_routine_does_not_fire_again_for_an_hour_that_comes_twice(self, company: Company, ada: Agent) -> None:
        with time_machine.travel("2026-03-02 10:59:30Z", tick=True):
            routine = build.routine(company, ada, cron="0 * * * *")
        with time_machine.travel("2026-03-02 11:00:30Z", tick=True):
            sweep.sweep()
        with time_machine.travel("2026-03-02 10:01:00Z", tick=True):
            sweep.sweep()
        with time_machine.travel("2026-03-02 11:00:30Z", tick=True):
            sweep.sweep()
        assert routine.fires.count() == 1
        with time_machine.travel("2026-03-02 12:00:30Z", tick=True):
            fire_routines()
        assert routine.fires.count() == 2


class TestBudgets:
    def test_what_was_set_aside_is_settled_in_its_month_though_the_clock_went_back_over_its_beginning(
        self, company: Company, ada: Agent
    ) -> None:
        with time_machine.travel("2026-03-01 00:10Z", tick=True):
            build.issue(company, assignee=ada)
            run = claim_next()
        assert run is not None
        with time_machine.travel("2026-02-28 23:10Z", tick=True):
            heartbeat(run)
        assert not Reservation.objects.exists()
        (row,) = Spending.objects.filter(agent=None)
        assert (row.month, row.reserved_tokens, row.runs) == (datetime.date(2026, 3, 1), 0, 1)
        assert row.tokens > 0
