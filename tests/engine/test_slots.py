"""The slots of a worker process: which runs a look starts, and when it starts none."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import Any

import pytest
from django.db import OperationalError

from agents.models import Agent, Run, RunState, Wakeup, WakeupState
from engine import claim, slots, tasks
from engine.slots import Slots
from issues.models import Company
from tests import build
from tests.engine.running import FakeModel, OneByOne
from tests.engine.test_claiming import mention, quiet_issue
from tests.engine.test_leases import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The looks that others are asked for."""
    taken: list[str] = []
    monkeypatch.setattr(tasks.look, "apply_async", lambda *_args, **_options: taken.append("look"))
    return taken


class NoMoreThreads(OneByOne):
    """As a pool does to which the system gives no further thread: it keeps the first, and says that it cannot."""

    is_full = True

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future = super().submit(work, *arguments, **options)
        if self.is_full:
            self.is_full = False
            raise RuntimeError("can't start new thread")
        return future


def wake(company: Company, count: int) -> None:
    """Wake so many agents, on an issue each."""
    for number in range(count):
        mention(build.agent(company, f"No{number}", provider="scripted"), quiet_issue(company))


def done() -> int:
    return Run.objects.filter(state=RunState.SUCCEEDED).count()


def test_a_look_starts_all_there_is_and_goes_on_with_what_the_runs_have_freed(
    company: Company, ada: Agent, bob: Agent, rings: list[str], model: FakeModel
) -> None:
    shared = quiet_issue(company)
    for agent, issue in ((ada, shared), (ada, quiet_issue(company)), (bob, shared)):
        mention(agent, issue)
    rings.clear()
    threads = OneByOne()
    Slots(8, threads).look()
    threads.do_all()
    assert done() == 3
    assert rings == []


def test_runs_wait_for_their_models_at_the_same_time(company: Company, rings: list[str], model: FakeModel) -> None:
    wake(company, 3)
    model.meanwhile = lambda: wait_until(lambda: len(model.requests) == 3)  # the first thinks until the others do
    Slots(3, ThreadPoolExecutor()).look()
    wait_until(lambda: done() == 3)


def test_a_full_process_starts_no_more_until_a_run_ends_and_tells_one_other(
    company: Company, ada: Agent, rings: list[str], model: FakeModel
) -> None:
    wake(company, 3)
    rings.clear()
    process = Slots(1, ThreadPoolExecutor(1))
    at_once: list[int] = []

    def look_meanwhile() -> None:
        process.look()
        at_once.append(Run.objects.live().count())

    model.meanwhile = look_meanwhile
    process.look()
    wait_until(lambda: done() == 3)
    assert at_once == [1]
    assert 1 <= len(rings) <= 3, "once for each time that it filled up, and not for each look"


def test_a_full_process_that_has_started_nothing_tells_nobody(
    company: Company, rings: list[str], model: FakeModel
) -> None:
    wake(company, 1)
    rings.clear()
    Slots(0, OneByOne()).look()
    assert rings == []


def test_a_look_that_finds_nothing_rings_nobody(rings: list[str]) -> None:
    Slots(8, OneByOne()).look()
    assert rings == []


def test_a_process_that_was_told_to_end_takes_no_more(
    company: Company, rings: list[str], model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake(company, 2)
    threads = OneByOne()
    process = Slots(1, threads)
    model.meanwhile = process.close
    process.look()
    threads.do_all()
    assert done() == 1
    assert Wakeup.objects.filter(state=WakeupState.PENDING).count() == 1
    assert not process.lend(lambda: None)


def test_what_is_told_to_end_in_the_middle_of_a_look_claims_no_further(
    company: Company, rings: list[str], model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake(company, 3)
    threads = OneByOne()
    process, whole = Slots(100, threads), claim.claim

    def close_meanwhile(agent_id: int, issue_id: int) -> Run | None:
        process.close()
        return whole(agent_id, issue_id)

    monkeypatch.setattr(claim, "claim", close_meanwhile)
    process.look()
    threads.do_all()
    assert (Run.objects.count(), done()) == (1, 1)


def test_a_run_that_is_claimed_while_the_process_ends_has_its_thread(
    company: Company, rings: list[str], model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody would hold it, and its work would wait for the end of its lease."""
    wake(company, 1)
    process, whole = Slots(1, ThreadPoolExecutor(1)), claim.claim
    ending = Thread(target=process.wait)

    def end_meanwhile(agent_id: int, issue_id: int) -> Run | None:
        ending.start()
        wait_until(lambda: process.is_closed)
        ending.join(0.2)  # what would shut the threads too early has done so by then
        return whole(agent_id, issue_id)

    monkeypatch.setattr(claim, "claim", end_meanwhile)
    process.look()
    ending.join(PATIENCE_SECONDS)
    assert not ending.is_alive()
    assert done() == 1


def test_it_ends_when_its_runs_have_ended(company: Company, rings: list[str], model: FakeModel) -> None:
    wake(company, 2)
    model.seconds = 0.3
    process = Slots(2, ThreadPoolExecutor(2))
    process.look()
    process.close()
    process.wait()
    assert done() == 2


def test_of_looks_at_once_one_claims_and_none_is_forgotten(
    company: Company, rings: list[str], model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bell that rings in the middle of a claim may be about something that this one cannot see any more."""
    process = Slots(8, OneByOne())
    whole, late = claim.candidates, [True]

    def candidates(now: object) -> object:
        found = list(whole(now))  # type: ignore[arg-type]
        if late and not found:
            late.clear()
            wake(company, 1)
            process.look()  # another thread's, while this one believes that there is nothing
            assert not Run.objects.exists()
        return iter(found)

    monkeypatch.setattr(claim, "candidates", candidates)
    process.look()
    assert Run.objects.exists()


def test_a_database_that_is_away_while_it_claims_costs_no_slot(
    company: Company, rings: list[str], model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake(company, 1)
    process = Slots(1, OneByOne())

    def candidates(_now: object) -> object:
        raise OperationalError("the server has gone away")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claim, "candidates", candidates)
        with pytest.raises(OperationalError):
            process.look()
    process.look()
    assert Run.objects.exists()


def test_a_run_that_breaks_off_gives_its_slot_back(
    company: Company,
    rings: list[str],
    model: FakeModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wake(company, 1)
    threads = OneByOne()
    process = Slots(1, threads)

    def break_off(_run: Run) -> None:
        raise OperationalError("the server has gone away")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slots, "_see_through", break_off)
        process.look()
        threads.do_all()
    assert process.lend(lambda: None)


def test_a_run_whose_thread_comes_late_gives_its_slot_back_once(
    company: Company, rings: list[str], model: FakeModel
) -> None:
    wake(company, 1)
    threads = NoMoreThreads()
    process = Slots(1, threads)
    with pytest.raises(RuntimeError):
        process.look()
    threads.do_all()
    assert done() == 1
    assert [process.lend(lambda: None) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(("slots_free", "in_a_row"), [(256, 10), (100, 10), (50, 5), (9, 1), (1, 1)])
def test_the_fewer_slots_are_free_the_more_often_it_is_looked_whose_run_comes_next(
    slots_free: int, in_a_row: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(claim, "claim_some", lambda most: iter(asked.append(most) or ()))
    Slots(slots_free, OneByOne()).look()
    assert asked == [in_a_row]
