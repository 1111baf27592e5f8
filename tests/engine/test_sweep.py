"""What the tick finds: what nobody took, what is due, what was missed. And that none of it stops the rest."""

from __future__ import annotations

import datetime
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import pytest
import time_machine
from celery import Celery
from django.utils import timezone

from agents.models import Agent, Routine, RoutineFire, Run, Wakeup, WakeupState
from agents.services.agents import edit_agent
from agents.services.wakeups import MOST_BELLS, run_heartbeat
from engine import doorbell, notices, sweep, tasks
from engine.claim import CANDIDATES, claim_next
from engine.sweep import fire_routines, release_forgotten, ring_for_due, wake_scheduled
from issues.actors import Person
from issues.effects import savepoint, unit
from issues.models import Blocker, Company, Issue, Status
from issues.services.blockers import add_blockers, remove_blockers
from issues.services.issues import set_status
from issues.sources import WakeupSource
from tests import build
from tests.engine.running import FakeModel, run_all
from tests.engine.test_claiming import mention, quiet_issue
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def unsilenced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorbell, "_silent_until", 0.0)


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The messages that the broker took."""
    taken: list[str] = []
    for task in (tasks.look, tasks.resume):
        monkeypatch.setattr(task, "apply_async", lambda *_args, name=task.name, **_options: taken.append(name))
    return taken


class TestForgottenBlockers:
    @pytest.fixture
    def waiting(self, company: Company, ada: Agent, owner: Person) -> Issue:
        """Ada's issue that waits for another."""
        issue = build.issue(company, "Waiting", assignee=ada)
        add_blockers(actor=owner, issue=issue, blockers=[build.issue(company, "In the way")])
        Wakeup.objects.all().delete()
        return issue

    def forget(self, waiting: Issue) -> None:
        """End its blocker as if the transaction that did had known of nobody who waits."""
        now = timezone.now()
        Issue.objects.filter(blocks=waiting).update(status=Status.DONE, closed_at=now, status_changed_at=now)

    def test_an_issue_whose_last_blocker_ended_unnoticed_moves_on(self, waiting: Issue, ada: Agent) -> None:
        self.forget(waiting)
        release_forgotten()
        waiting.refresh_from_db()
        assert waiting.status == Status.TODO
        (wakeup,) = build.pending(ada, waiting)
        assert wakeup.source == WakeupSource.BLOCKER_RESOLVED
        assert wakeup.subject_issue == Issue.objects.get(title="In the way")
        release_forgotten()
        assert Wakeup.objects.count() == 1

    def test_one_that_still_has_an_open_blocker_waits(self, waiting: Issue, company: Company, owner: Person) -> None:
        add_blockers(actor=owner, issue=waiting, blockers=[build.issue(company)])
        Issue.objects.filter(title="In the way").update(status=Status.DONE, closed_at=timezone.now())
        release_forgotten()
        waiting.refresh_from_db()
        assert waiting.status == Status.BLOCKED

    def test_what_a_person_set_to_blocked_is_left_alone(self, company: Company, ada: Agent, owner: Person) -> None:
        issue = build.issue(company, assignee=ada)
        set_status(actor=owner, issue=issue, status=Status.BLOCKED)
        release_forgotten()
        issue.refresh_from_db()
        assert issue.status == Status.BLOCKED

    def test_so_is_one_blocked_by_hand_after_its_blocker_had_ended(self, waiting: Issue, owner: Person) -> None:
        set_status(actor=owner, issue=Issue.objects.get(title="In the way"), status=Status.DONE)
        set_status(actor=owner, issue=waiting, status=Status.BLOCKED)
        release_forgotten()
        waiting.refresh_from_db()
        assert waiting.status == Status.BLOCKED

    def test_of_many_blocked_issues_each_sweep_looks_at_some_and_none_is_left_out(
        self, waiting: Issue, company: Company, owner: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sweep, "BATCH", 2)
        others = [build.issue(company) for _ in range(4)]
        for other in others:
            add_blockers(actor=owner, issue=other, blockers=[build.issue(company)])
        everybody = [waiting, *others]
        for other in everybody:
            self.forget(other)
        left = []
        for _ in range(3):
            release_forgotten()
            left.append(Issue.objects.filter(status=Status.BLOCKED).count())
        assert left == [3, 1, 0]

    def test_one_that_cannot_be_moved_does_not_keep_the_others(
        self, waiting: Issue, company: Company, ada: Agent, owner: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = build.issue(company, "Other", assignee=ada)
        blocker = build.issue(company, "Also in the way")
        add_blockers(actor=owner, issue=other, blockers=[blocker])
        self.forget(waiting)
        self.forget(other)
        whole = sweep.release_waiting

        def release(last: Issue, actor: object, ids: list[int]) -> None:
            if ids == [waiting.pk]:
                raise ZeroDivisionError("by nought")
            whole(last, actor, ids)  # type: ignore[arg-type]

        monkeypatch.setattr(sweep, "release_waiting", release)
        release_forgotten()
        other.refresh_from_db()
        assert other.status == Status.TODO

    def test_the_end_of_a_blocker_needs_no_sweep(self, waiting: Issue, ada: Agent, owner: Person) -> None:
        remove_blockers(actor=owner, issue=waiting, blockers=list(waiting.blockers.all()))
        assert not Blocker.objects.exists()
        assert len(build.pending(ada, waiting)) == 1


class TestSchedules:
    @pytest.fixture
    def sam(self, company: Company, ada: Agent, owner: Person) -> Agent:
        """Ada, who looks for work every five minutes; it is time."""
        edit_agent(actor=owner, agent=ada, schedule_minutes=5)
        Agent.objects.filter(pk=ada.pk).update(next_schedule_at=timezone.now())
        return ada

    def test_an_agent_whose_interval_came_round_is_woken_for_its_next_work(self, company: Company, sam: Agent) -> None:
        build.issue(company, "later", assignee=sam)
        first = build.issue(company, "first", assignee=sam, priority=1)
        Wakeup.objects.all().delete()
        wake_scheduled()
        (wakeup,) = build.pending(sam)
        assert (wakeup.source, wakeup.issue) == (WakeupSource.SCHEDULE, first)
        sam.refresh_from_db()
        assert sam.next_schedule_at is not None
        assert sam.next_schedule_at > timezone.now() + datetime.timedelta(minutes=4)

    def test_with_no_work_there_is_no_run_and_no_call(self, company: Company, sam: Agent, model: FakeModel) -> None:
        issue = build.issue(company, assignee=sam)
        build.issue(company, "A part", parent=issue)
        quiet_issue(company, assignee=sam)
        Wakeup.objects.all().delete()
        wake_scheduled()
        assert run_all() == []
        assert (Wakeup.objects.count(), Run.objects.count(), model.requests) == (0, 0, [])

    def test_outside_of_its_hours_it_is_left_alone_until_they_begin(
        self, company: Company, sam: Agent, owner: Person
    ) -> None:
        build.issue(company, assignee=sam)
        Wakeup.objects.all().delete()
        now = timezone.now()
        begins, ends = now + datetime.timedelta(hours=2), now + datetime.timedelta(hours=3)
        edit_agent(actor=owner, agent=sam, active_hours=f"{begins:%H:%M}-{ends:%H:%M}")
        Agent.objects.update(next_schedule_at=now)  # as if its hours had been changed meanwhile
        wake_scheduled()
        sam.refresh_from_db()
        assert build.pending(sam) == []
        assert sam.next_schedule_at == begins.replace(second=0, microsecond=0)

    def test_two_sweeps_at_once_wake_it_once(self, company: Company, sam: Agent) -> None:
        build.issue(company, assignee=sam)
        Wakeup.objects.all().delete()
        at_once([wake_scheduled] * 2)
        (wakeup,) = build.pending(sam)
        assert wakeup.joined == 0

    def test_an_agent_that_cannot_be_woken_does_not_hold_up_the_others(
        self, company: Company, sam: Agent, bob: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Agent.objects.filter(pk=bob.pk).update(
            schedule_minutes=5, next_schedule_at=timezone.now() - datetime.timedelta(hours=1)
        )
        build.issue(company, assignee=sam)
        Wakeup.objects.all().delete()
        whole = sweep.wake_on_schedule

        def wake(*, agent: Agent) -> object:
            if agent == bob:
                raise ZeroDivisionError("by nought")
            return whole(agent=agent)

        monkeypatch.setattr(sweep, "wake_on_schedule", wake)
        wake_scheduled()
        wake_scheduled()
        assert len(build.pending(sam)) == 1


class TestRoutines:
    @pytest.fixture
    def routine(self, company: Company, ada: Agent) -> Routine:
        """A routine that is due."""
        routine = build.routine(company, ada)
        Routine.objects.update(next_fire_at=timezone.now() - datetime.timedelta(seconds=1))
        return routine

    def test_two_sweeps_at_once_fire_it_once(self, routine: Routine, ada: Agent) -> None:
        assert at_once([fire_routines] * 4) == [None] * 4
        fire = RoutineFire.objects.get()
        assert fire.issue is not None
        (wakeup,) = build.pending(ada)
        assert wakeup.source == WakeupSource.ROUTINE

    def test_a_routine_that_fails_does_not_hold_up_the_others(
        self, company: Company, ada: Agent, routine: Routine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        build.routine(company, ada, name="Evening")
        Routine.objects.update(next_fire_at=timezone.now())
        whole = sweep.fire_routine

        def fire(*, routine: Routine, now: datetime.datetime) -> object:
            if routine.name == "Morning":
                raise ZeroDivisionError("by nought")
            return whole(routine=routine, now=now)

        monkeypatch.setattr(sweep, "fire_routine", fire)
        fire_routines()
        assert RoutineFire.objects.get().routine.name == "Evening"


class TestTheTick:
    def test_one_that_speaks_to_a_slow_mail_server_leaves_the_letters_of_the_next_to_a_later_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun: list[str] = []

        def deliver() -> None:
            begun.append("delivery")
            if begun == ["sweep", "delivery"]:
                tasks.tick()  # another thread's, meanwhile

        monkeypatch.setattr(notices, "deliver_notices", deliver)
        monkeypatch.setattr(sweep, "sweep", lambda: begun.append("sweep"))
        tasks.tick()
        assert begun == ["sweep", "delivery", "sweep"]
        tasks.tick()
        assert begun[3:] == ["sweep", "delivery"]


class TestTheDoorbell:
    def test_a_sweep_rings_for_a_few_pairs_only_because_who_looks_takes_all(
        self, company: Company, rings: list[str]
    ) -> None:
        for number in range(MOST_BELLS + 2):
            mention(build.agent(company, f"No{number}", provider="scripted"), quiet_issue(company))
        rings.clear()
        ring_for_due()
        assert len(rings) == MOST_BELLS

    def test_many_wakeups_of_one_transaction_ring_a_few_times_also_after_some_were_undone(
        self, company: Company, rings: list[str]
    ) -> None:
        agents = [build.agent(company, f"No{number}", provider="scripted") for number in range(MOST_BELLS + 2)]
        issues = [quiet_issue(company) for _ in agents]
        with unit():
            for is_undone in (True, False):
                with suppress(ZeroDivisionError), savepoint():
                    for agent, issue in zip(agents, issues, strict=True):
                        mention(agent, issue)
                    if is_undone:
                        raise ZeroDivisionError
        assert len(rings) == MOST_BELLS

    def test_a_sweep_rings_once_for_each_pair_that_could_start(
        self, company: Company, ada: Agent, bob: Agent, rings: list[str]
    ) -> None:
        for agent in (ada, bob):
            mention(agent, quiet_issue(company), times=3)
        mention(bob, Issue.objects.earliest("pk"))
        Wakeup.objects.filter(agent=ada).update(due_at=timezone.now() + datetime.timedelta(hours=1))
        rings.clear()
        ring_for_due()
        assert rings == ["engine.tasks.look"] * 2

    def test_it_does_not_ring_for_what_has_to_wait(self, company: Company, ada: Agent, rings: list[str]) -> None:
        for _ in range(3):
            mention(ada, quiet_issue(company))
        assert claim_next() is not None
        rings.clear()
        ring_for_due()
        assert rings == []

    def test_a_wakeup_rings_once_its_transaction_is_safe(self, company: Company, ada: Agent, rings: list[str]) -> None:
        from django.db import transaction

        issue = quiet_issue(company)
        with transaction.atomic():
            mention(ada, issue)
            assert rings == []
        assert rings == ["engine.tasks.look"]

    def test_a_transaction_that_is_taken_back_does_not_ring(
        self, company: Company, ada: Agent, rings: list[str]
    ) -> None:
        from django.db import transaction

        issue = quiet_issue(company)
        with transaction.atomic():
            mention(ada, issue)
            transaction.set_rollback(True)
        assert rings == []

    def test_a_wakeup_that_joins_another_does_not_ring_again(
        self, company: Company, ada: Agent, owner: Person, rings: list[str]
    ) -> None:
        issue = quiet_issue(company)
        mention(ada, issue, times=50)
        assert len(rings) == 1

    def test_a_person_who_asks_again_rings(self, company: Company, ada: Agent, owner: Person, rings: list[str]) -> None:
        issue = quiet_issue(company)
        for _ in range(2):
            run_heartbeat(actor=owner, agent=ada, issue=issue)
        assert len(rings) == 2


class TestABrokerThatIsDown:
    @pytest.fixture
    def hanging(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """A broker that accepts connections and says nothing."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            app = Celery("hanging", broker=f"redis://127.0.0.1:{port}/0")
            app.conf.broker_transport_options = {
                "max_retries": 0,
                "socket_timeout": 1.0,
                "socket_connect_timeout": 1.0,
            }
            look = app.task(name="engine.tasks.look")(lambda: None)
            monkeypatch.setattr(tasks, "look", look)
            yield

    def test_ringing_never_raises_and_costs_a_second_once(self, hanging: None, company: Company, ada: Agent) -> None:
        issue = quiet_issue(company)
        started = time.monotonic()
        for _ in range(10):
            build.comment(issue, "@ada")
        assert time.monotonic() - started < 8.0  # ten rings would wait for ten
        assert Wakeup.objects.filter(state=WakeupState.PENDING).count() == 10

    def test_a_sweep_gives_up_at_the_first_ring(self, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(5):
            mention(build.agent(company, f"A{number}", provider="scripted"), quiet_issue(company))
        tried: list[bool] = []

        def apply_async(*_args: object, **_options: object) -> None:
            tried.append(True)
            raise ConnectionError("refused")

        monkeypatch.setattr(tasks.look, "apply_async", apply_async)
        monkeypatch.setattr(doorbell, "_silent_until", 0.0)
        ring_for_due()
        assert len(tried) == 1

    def test_after_a_while_it_is_tried_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [100.0]
        monkeypatch.setattr(doorbell.time, "monotonic", lambda: now[0])
        answers: list[Callable[[], None]] = [self._refuse, lambda: None]
        monkeypatch.setattr(tasks.look, "apply_async", lambda *_args, **_options: answers.pop(0)())
        assert not doorbell.ring()
        assert not doorbell.ring()
        now[0] += doorbell.SILENCE_SECONDS
        assert doorbell.ring()

    @staticmethod
    def _refuse() -> None:
        raise ConnectionError("refused")


@pytest.mark.parametrize(
    "failing", ["recover_expired", "fire_routines", "wake_scheduled", "release_forgotten", "ring_for_due"]
)
def test_a_part_that_fails_does_not_stop_the_others(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ["recover_expired", "fire_routines", "wake_scheduled", "release_forgotten", "ring_for_due"]
    done: list[str] = []

    def do(name: str) -> None:
        done.append(name)
        if name == failing:
            raise ZeroDivisionError("by nought")

    for name in parts:
        monkeypatch.setattr(sweep, name, partial(do, name))
    sweep.sweep()
    assert done == parts


def test_a_wakeup_that_nobody_was_told_of_is_found(
    company: Company, ada: Agent, rings: list[str], model: FakeModel
) -> None:
    """Its message was lost, or the broker was emptied."""
    mention(ada, quiet_issue(company))
    rings.clear()
    tasks.tick()
    assert rings == ["engine.tasks.look"]


def test_wakeups_far_down_the_queue_are_reached(company: Company, ada: Agent, owner: Person) -> None:
    for number in range(CANDIDATES + 5):
        issue = quiet_issue(company, priority=1)
        mention(build.agent(company, f"No{number}", provider="openai"), issue)
    mention(ada, quiet_issue(company))
    claim_next()
    run = claim_next()
    assert run is not None
    assert run.agent == ada


def test_a_retry_is_due_by_the_clock(company: Company, ada: Agent) -> None:
    mention(ada, quiet_issue(company))
    Wakeup.objects.update(due_at=timezone.now() + datetime.timedelta(minutes=2), tries=1)
    assert claim_next() is None
    with time_machine.travel(timezone.now() + datetime.timedelta(minutes=3)):
        assert claim_next() is not None
