"""Runs that nobody renews: found by the watch, lost or gone on with, and the former worker fenced off."""

from __future__ import annotations

import datetime
import time
from functools import partial

import pytest
import time_machine
from django.utils import timezone

from agents.models import Run, RunState, Wakeup, WakeupState
from agents.services.agents import worker_for
from agents.services.runs import check_out, touch_external
from engine import apply, fence, leases, tasks
from engine.claim import claim_next
from engine.delivery import TRIES
from engine.fence import Fenced
from engine.heartbeat import heartbeat
from engine.leases import LeaseWatch
from engine.preparing import prepare
from engine.resume import MOST_ATTEMPTS, resume_run
from engine.sweep import recover_expired
from issues.actors import Person
from issues.models import Activity, Company, InboxItem, InboxKind, Issue, Status
from tests import build
from tests.engine.running import FakeModel
from tests.engine.test_claiming import mention, quiet_issue

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that some worker was asked to go on with."""
    asked: list[int] = []

    def apply_async(args: tuple[int, int], **_options: object) -> None:
        asked.append(args[0])

    monkeypatch.setattr(tasks.resume, "apply_async", apply_async)
    return asked


def expire(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every live run's lease expire on the watch of this process."""
    monkeypatch.setattr(leases, "watch", LeaseWatch())
    Run.objects.live().update(lease_seconds=0)
    recover_expired()


class TestTheWatch:
    """It measures on this process's own monotonic clock since a renewal counter last moved."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        now = [1_000.0]
        monkeypatch.setattr(leases.time, "monotonic", lambda: now[0])
        return now

    def test_a_lease_expires_when_its_counter_has_not_moved_for_its_length(self, clock: list[float]) -> None:
        watch, run = LeaseWatch(), Run(pk=1, lease_seconds=120)
        assert watch.expired([run]) == []
        clock[0] += 119
        assert watch.expired([run]) == []
        clock[0] += 1
        assert watch.expired([run]) == [run]

    def test_a_renewal_begins_it_anew(self, clock: list[float]) -> None:
        watch = LeaseWatch()
        watch.expired([Run(pk=1, lease_seconds=120)])
        clock[0] += 100
        watch.expired([Run(pk=1, lease_seconds=120, lease_counter=1)])
        clock[0] += 100
        assert watch.expired([Run(pk=1, lease_seconds=120, lease_counter=1)]) == []

    def test_so_does_another_attempt(self, clock: list[float]) -> None:
        watch = LeaseWatch()
        watch.expired([Run(pk=1, lease_seconds=120)])
        clock[0] += 121
        assert watch.expired([Run(pk=1, lease_seconds=120, attempt=2)]) == []

    def test_a_watch_that_has_just_begun_expires_nothing(self, clock: list[float]) -> None:
        assert LeaseWatch().expired([Run(pk=1, lease_seconds=120)]) == []

    @pytest.mark.parametrize("hours", [-1, 1])
    def test_a_clock_that_is_set_changes_nothing(self, hours: int) -> None:
        watch, run = LeaseWatch(), Run(pk=1, lease_seconds=120)
        watch.expired([run])
        with time_machine.travel(timezone.now() + datetime.timedelta(hours=hours)):
            time.sleep(0.01)
            assert watch.expired([run]) == []

    def test_a_lease_expires_although_the_clock_was_set_back(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(leases, "watch", LeaseWatch())
        Run.objects.update(lease_seconds=1)
        recover_expired()
        time.sleep(1.1)
        with time_machine.travel(timezone.now() - datetime.timedelta(hours=1)):
            recover_expired()
        run.refresh_from_db()
        assert run.state == RunState.LOST


class TestExpired:
    def test_a_run_without_a_reply_is_lost_and_its_wakeups_are_pending_again(
        self, run: Run, issue: Issue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expire(monkeypatch)
        run.refresh_from_db()
        assert (run.state, run.error_kind) == (RunState.LOST, "lost")
        wakeup = Wakeup.objects.get()
        assert (wakeup.state, wakeup.run, wakeup.tries) == (WakeupState.PENDING, None, 1)
        assert wakeup.due_at <= timezone.now()
        assert claim_next() is not None
        assert Activity.objects.filter(issue=issue, kind="run.ended", data__state="lost").exists()

    def test_the_last_time_it_is_told_and_not_tried_again(
        self, run: Run, issue: Issue, owner: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for _ in range(TRIES - 1):
            expire(monkeypatch)
            assert claim_next() is not None
        expire(monkeypatch)
        assert claim_next() is None
        assert Wakeup.objects.get().state == WakeupState.CONSUMED
        told = InboxItem.objects.get()
        assert (told.member, told.kind, told.issue) == (owner.member, InboxKind.FAILURE, issue)
        assert "was lost" in told.text

    def test_a_run_that_moves_after_the_look_is_left_alone(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = LeaseWatch.expired

        def expired(self: LeaseWatch, runs: list[Run]) -> list[Run]:
            found = whole(self, runs)
            Run.objects.update(lease_counter=7)
            return found

        monkeypatch.setattr(LeaseWatch, "expired", expired)
        expire(monkeypatch)
        run.refresh_from_db()
        assert run.state == RunState.RUNNING

    def test_a_late_worker_of_a_lost_run_is_fenced_off(
        self, run: Run, issue: Issue, model: FakeModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model.answers = ["Too late.\n/status done"]
        model.meanwhile = partial(expire, monkeypatch)
        heartbeat(run)
        run.refresh_from_db()
        issue.refresh_from_db()
        assert (run.state, issue.status, issue.comments.count()) == (RunState.LOST, Status.TODO, 0)

    def test_a_kept_reply_is_applied_without_asking_again(
        self, run: Run, issue: Issue, model: FakeModel, rung: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prepare(run)
        Run.objects.update(reply="Done.\n/status done")
        expire(monkeypatch)
        assert rung == [run.pk]
        resume_run(run.pk, 1)
        run.refresh_from_db()
        issue.refresh_from_db()
        assert (run.state, run.attempt, model.requests) == (RunState.SUCCEEDED, 2, [])
        assert (issue.status, issue.comments.get().body) == (Status.DONE, "Done.")
        assert Wakeup.objects.get().state == WakeupState.CONSUMED

    def test_a_message_that_comes_again_takes_nothing_from_who_is_at_it(self, run: Run, issue: Issue) -> None:
        prepare(run)
        Run.objects.update(reply="Hello.", attempt=2)
        resume_run(run.pk, 1)
        assert not issue.comments.exists()
        assert Run.objects.get().attempt == 2

    def test_going_on_twice_applies_once(self, run: Run, issue: Issue, model: FakeModel) -> None:
        prepare(run)
        Run.objects.update(reply="Hello.")
        resume_run(run.pk, 1)
        resume_run(run.pk, 1)
        assert issue.comments.count() == 1
        assert Run.objects.get().attempt == 2

    def test_the_former_worker_is_fenced_off_by_the_attempt(
        self, run: Run, issue: Issue, rung: list[int], model: FakeModel
    ) -> None:
        """It had kept the reply, stood still, and comes back when another has applied it."""
        model.answers = ["Once."]
        prepare(run)
        Run.objects.update(reply="Once.")
        resume_run(run.pk, 1)
        heartbeat(run)
        assert issue.comments.count() == 1

    def test_nothing_is_written_by_a_worker_of_an_earlier_attempt(self, run: Run, issue: Issue) -> None:
        prepare(run)
        Run.objects.update(reply="Hello.", attempt=2)
        run.reply = "Hello."
        with pytest.raises(Fenced):
            fence.write(run, hint="Mine.")
        with pytest.raises(Fenced):
            apply.apply_reply(run)
        assert not issue.comments.exists()

    def test_it_goes_on_through_no_gate(
        self, run: Run, issue: Issue, company: Company, owner: Person, model: FakeModel
    ) -> None:
        from issues.services.companies import pause_company

        prepare(run)
        Run.objects.update(reply="Hello.")
        pause_company(actor=owner, company=company)
        resume_run(run.pk, 1)
        assert issue.comments.count() == 1

    def test_a_bug_in_applying_ends_the_resumed_run(
        self, run: Run, rung: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def follow_up(*_args: object) -> None:
            raise ZeroDivisionError("by nought")

        monkeypatch.setattr(apply, "follow_up", follow_up)
        prepare(run)
        Run.objects.update(reply="Hello.")
        resume_run(run.pk, 1)
        run.refresh_from_db()
        assert (run.state, run.error) == (RunState.FAILED, "ZeroDivisionError: by nought")

    def test_a_reply_that_ends_each_worker_is_given_up(
        self, run: Run, rung: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prepare(run)
        Run.objects.update(reply="Hello.")
        for _ in range(MOST_ATTEMPTS - 1):  # each worker takes it over and is gone
            expire(monkeypatch)
            Run.objects.filter(pk=run.pk).update(attempt=Run.objects.get().attempt + 1)
        assert len(rung) == MOST_ATTEMPTS - 1
        expire(monkeypatch)
        run.refresh_from_db()
        assert (run.state, len(rung)) == (RunState.FAILED, MOST_ATTEMPTS - 1)
        assert run.error == f"Its reply could not be applied: {MOST_ATTEMPTS} workers ended over it."
        assert InboxItem.objects.get().kind == InboxKind.FAILURE

    def test_an_outside_agent_that_is_not_heard_of_loses_its_issue(
        self, company: Company, owner: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = build.agent(company, "Out", adapter="external")
        issue = quiet_issue(company)
        mention(out, issue)
        run = check_out(actor=worker_for(out), issue=issue)
        expire(monkeypatch)
        run.refresh_from_db()
        assert (run.state, run.error) == (RunState.LOST, "@out was not heard of again.")
        assert Wakeup.objects.get().state == WakeupState.PENDING

    def test_any_call_of_its_key_keeps_an_outside_agents_issue(
        self, company: Company, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = build.agent(company, "Out", adapter="external")
        run = check_out(actor=worker_for(out), issue=quiet_issue(company))
        monkeypatch.setattr(leases, "watch", LeaseWatch())
        Run.objects.update(lease_seconds=1)
        recover_expired()
        time.sleep(1.1)
        touch_external(run)
        recover_expired()
        run.refresh_from_db()
        assert run.state == RunState.RUNNING
