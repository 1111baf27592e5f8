"""Holding runs: cancelled in time, renewed while somebody is at work, handed back at the end."""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Iterator

import pytest
from django.db import InterfaceError, connections
from django.utils import timezone

from agents.models import Agent, Run, RunState, Wakeup, WakeupState
from agents.services.agents import worker_for
from agents.services.runs import cancel_run, check_out, release
from engine import leases, tasks, turns
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from engine.resume import resume_run
from engine.slots import Slots
from issues.actors import Person
from issues.models import Activity, Company, Issue
from issues.refusals import Conflict
from tests import build
from tests.engine.running import FakeModel, OneByOne, run_all
from tests.engine.test_claiming import mention, quiet_issue

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_SECONDS = 30.0
"""For a thread to end on a busy machine: half of what the model would take."""


def in_thread(run: Run) -> threading.Thread:
    """The run's heartbeat, in a slot's thread as in a worker."""

    def work() -> None:
        try:
            heartbeat(run)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def wait_until(condition: object, seconds: float = PATIENCE_SECONDS) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


class TestCancelling:
    def test_the_holder_looks_often_enough_for_a_cancel_to_be_felt_within_two_seconds(self) -> None:
        assert leases.LOOK_SECONDS <= 2.0 / 2  # one look may just have passed, the next takes its time

    def test_a_run_that_waits_for_its_model_ends_at_the_look_that_follows_a_cancel(
        self, run: Run, issue: Issue, owner: Person, model: FakeModel
    ) -> None:
        model.seconds = 60
        thread = in_thread(run)
        wait_until(lambda: model.requests)
        cancel_run(actor=owner, run=Run.objects.get(pk=run.pk))
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
        wait_until(lambda: model.was_cancelled)
        assert not issue.comments.exists()

    def test_cancelling_frees_issue_and_agent_and_consumes_the_wakeups(
        self, run: Run, issue: Issue, ada: Agent, owner: Person
    ) -> None:
        cancelled = cancel_run(actor=owner, run=run)
        assert (cancelled.state, cancelled.ended_by) == (RunState.CANCELLED, build.member_row(owner))
        assert not issue.runs.live().exists()
        assert Wakeup.objects.get().state == WakeupState.CONSUMED
        build.comment(issue, "Again, @ada.", actor=owner)
        assert claim_next() is not None

    def test_an_answer_that_comes_after_it_is_fenced_off(
        self, run: Run, issue: Issue, owner: Person, model: FakeModel
    ) -> None:
        model.meanwhile = lambda: cancel_run(actor=owner, run=Run.objects.get(pk=run.pk))
        heartbeat(run)
        run.refresh_from_db()
        assert (run.state, run.reply, issue.comments.count()) == (RunState.CANCELLED, None, 0)

    def test_a_kept_reply_is_not_applied_after_it(self, run: Run, issue: Issue, owner: Person) -> None:
        Run.objects.filter(pk=run.pk).update(reply="Hello.")
        cancel_run(actor=owner, run=Run.objects.get(pk=run.pk))
        resume_run(run.pk, 1)
        assert not issue.comments.exists()

    def test_a_run_is_cancelled_once(self, run: Run, owner: Person) -> None:
        cancel_run(actor=owner, run=run)
        with pytest.raises(Conflict):
            cancel_run(actor=owner, run=run)
        assert Activity.objects.filter(kind="run.ended").count() == 1

    def test_a_run_without_a_worker_can_be_cancelled(self, company: Company, ada: Agent, owner: Person) -> None:
        issue = quiet_issue(company)
        run = check_out(actor=worker_for(ada), issue=issue)
        release(actor=owner, issue=issue)
        run.refresh_from_db()
        assert run.state == RunState.CANCELLED


class TestRenewing:
    def test_a_lease_is_renewed_every_third_of_its_length(self, run: Run, model: FakeModel) -> None:
        Run.objects.update(lease_seconds=1)
        run.lease_seconds = 1
        model.seconds = 1.5
        began_at = time.monotonic()
        heartbeat(run)
        thirds = 3 * (time.monotonic() - began_at)
        run.refresh_from_db()
        assert run.state == RunState.SUCCEEDED
        assert 2 <= run.lease_counter <= thirds + 1

    def test_it_is_not_renewed_after_the_runs_deadline(self, run: Run, model: FakeModel) -> None:
        """A hung thread does not hold an issue for ever."""
        run.lease_seconds, run.deadline_at = 1, timezone.now() - datetime.timedelta(seconds=1)
        model.seconds = 0.8
        heartbeat(run)
        run.refresh_from_db()
        assert run.lease_counter == 0

    def test_a_run_that_another_took_over_lets_go_of_its_call(self, run: Run, model: FakeModel) -> None:
        model.seconds = 60
        thread = in_thread(run)
        wait_until(lambda: model.requests)
        Run.objects.filter(pk=run.pk).update(attempt=2)
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
        assert Run.objects.get(pk=run.pk).state == RunState.RUNNING

    @pytest.mark.parametrize("error", [InterfaceError("connection already closed"), ZeroDivisionError("by nought")])
    def test_the_thread_that_renews_outlives_a_look_that_fails(
        self, error: Exception, run: Run, model: FakeModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looked: list[bool] = []
        whole = leases.LeaseHolder._look

        def look(self: leases.LeaseHolder, held: list[leases.Lease]) -> None:
            looked.append(True)
            if len(looked) == 1:
                raise error
            whole(self, held)

        monkeypatch.setattr(leases.LeaseHolder, "_look", look)
        Run.objects.update(lease_seconds=1)
        run.lease_seconds = 1
        model.seconds = 1
        heartbeat(run)
        run.refresh_from_db()
        assert run.lease_counter >= 1


class TestHandingBack:
    """A process that is told to end finishes what ends soon and hands the rest back."""

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(tasks, "HAND_BACK_SECONDS", 0.3)
        monkeypatch.setattr(tasks, "slots", Slots(1, OneByOne()))
        yield
        for timer in threading.enumerate():  # else it hands back the run of the test that follows
            if isinstance(timer, threading.Timer):
                timer.cancel()
                timer.join()

    def test_a_run_that_still_waits_is_given_up_and_its_work_is_pending_at_once(
        self, run: Run, issue: Issue, model: FakeModel
    ) -> None:
        model.seconds = 60
        thread = in_thread(run)
        wait_until(lambda: model.requests)
        tasks.finish()
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
        run.refresh_from_db()
        assert (run.state, run.error) == (RunState.LOST, "The worker that held the run was told to end.")
        wakeup = Wakeup.objects.get()
        assert (wakeup.state, wakeup.tries, wakeup.waiting_because) == (WakeupState.PENDING, 0, run.error)
        model.seconds = 0
        assert [again.state for again in run_all()] == [RunState.SUCCEEDED]
        assert issue.comments.count() == 1

    def test_also_where_nothing_said_before_that_the_process_ends(self, run: Run, model: FakeModel) -> None:
        model.seconds = 60
        thread = in_thread(run)
        wait_until(lambda: model.requests)
        tasks.wait_for_runs()
        assert tasks.slots.is_closed
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
        run.refresh_from_db()
        assert run.state == RunState.LOST

    def test_one_that_ends_soon_is_finished(self, run: Run, issue: Issue, model: FakeModel) -> None:
        model.seconds = 0.1
        model.meanwhile = tasks.finish
        heartbeat(run)
        run.refresh_from_db()
        assert (run.state, issue.comments.count()) == (RunState.SUCCEEDED, 1)

    def test_one_that_has_not_asked_yet_does_not_ask(self, run: Run, model: FakeModel) -> None:
        whole = leases.Lease.wait_for

        def wait_for(self: leases.Lease, call: object) -> object:
            self.hand_back()
            return whole(self, call)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(leases.Lease, "wait_for", wait_for)
            model.seconds = 60
            heartbeat(run)
        run.refresh_from_db()
        assert run.state == RunState.LOST

    def test_a_run_that_was_cancelled_meanwhile_stays_cancelled(
        self, run: Run, owner: Person, model: FakeModel
    ) -> None:
        def cancel_and_end() -> None:
            cancel_run(actor=owner, run=Run.objects.get(pk=run.pk))
            leases.holder.hand_back()

        model.seconds = 60
        model.meanwhile = cancel_and_end
        heartbeat(run)
        run.refresh_from_db()
        assert run.state == RunState.CANCELLED
        assert Wakeup.objects.get().state == WakeupState.CONSUMED


class TestConnections:
    def test_no_database_connection_is_held_while_the_model_is_awaited(self, run: Run, model: FakeModel) -> None:
        """Of the threads that Django knows, the one that waits has none open."""
        held: list[bool] = []
        waiting = threading.Event()

        def work() -> None:
            heartbeat(run)
            connections.close_all()

        from django.db import connection as of_the_test

        whole = leases.Lease.wait_for

        def wait_for(self: leases.Lease, call: object) -> object:
            held.append(of_the_test.connection is not None)  # the proxy answers for the thread that asks
            waiting.set()
            return whole(self, call)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(leases.Lease, "wait_for", wait_for)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join(30)
        assert waiting.is_set()
        assert held == [False]

    def test_no_more_threads_than_allowed_do_database_work_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(turns, "_turns", turns.Turns(2))
        inside, most = [0], [0]
        lock = threading.Lock()

        def work() -> None:
            with turns.database_turn():
                with lock:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                time.sleep(0.02)
                with lock:
                    inside[0] -= 1

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == [2]

    def test_who_begins_a_run_has_the_next_turn_before_who_ends_one(self) -> None:
        line = turns.Turns(1)
        line.take()
        order: list[str] = []

        def work(name: str, begins: bool) -> None:
            line.take(begins=begins)
            order.append(name)
            line.give(begins=begins)

        threads = []
        for name, begins in (("end 1", False), ("end 2", False), ("begin 1", True), ("begin 2", True)):
            threads.append(threading.Thread(target=work, args=(name, begins)))
            threads[-1].start()
            wait_until(lambda: sum(map(len, line._waiting.values())) == len(threads))
        line.give()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        assert order == ["begin 1", "begin 2", "end 1", "end 2"]

    def test_while_a_run_begins_one_at_a_time_ends(self) -> None:
        line = turns.Turns(3)
        line.take(begins=True)
        line.take()
        second = threading.Thread(target=line.take)
        second.start()
        wait_until(lambda: line._waiting[False])
        line.take(begins=True)  # the third place is for another that begins
        for _ in range(2):
            assert second.is_alive()
            line.give(begins=True)
        second.join(PATIENCE_SECONDS)
        assert not second.is_alive()


def test_an_agents_next_wakeup_is_claimed_after_its_run_was_cancelled(
    run: Run, issue: Issue, ada: Agent, owner: Person, model: FakeModel
) -> None:
    mention(ada, issue)
    assert claim_next() is None
    cancel_run(actor=owner, run=run)
    assert [after.state for after in run_all()] == [RunState.SUCCEEDED]
