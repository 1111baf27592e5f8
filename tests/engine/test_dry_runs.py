"""Dry re-runs: the prompt is asked once more, the answer judged as things stand, and nothing of it stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.apps import apps
from django.utils import timezone

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import Agent, DryRun, DryRunState, ModelCall, Reservation, Run, RunState, Spending
from agents.services.agents import edit_agent, pause_agent
from agents.services.dry_runs import MOST_OPEN, ask_for_dry_run
from agents.services.runs import cancel_run
from agents.services.spending import set_budget
from engine import dry_runs, tasks
from engine.claim import claim_next
from engine.dry_runs import LEFT_BEHIND, answer_dry_run, tend_dry_runs, worst_case
from engine.retention import drop_old_texts
from engine.slots import Slots
from engine.sweep import settle_left_behind
from issues.actors import Person
from issues.models import Company, Issue, Status
from issues.refusals import Conflict
from issues.services.issues import set_status
from tests import build
from tests.engine.running import FakeModel, OneByOne, run_next
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)

REPLY = "I did it.\n\n/status in_review\n/create-issue A part\n/assign @nobody\n/statsu done"


@pytest.fixture
def run(issue: Issue, model: FakeModel) -> Run:
    model.answers = ["Noted.", REPLY]
    done = run_next()
    Issue.objects.filter(pk=issue.pk).update(status=Status.TODO)
    return done


def asked(owner: Person, run: Run) -> DryRun:
    """One that was asked for and seen through."""
    dry_run = ask_for_dry_run(actor=owner, run=run)
    answer_dry_run(dry_run.pk)
    dry_run.refresh_from_db()
    return dry_run


def everything() -> dict[str, int]:
    return {model._meta.label: model._default_manager.count() for model in apps.get_models()}


def test_the_model_is_asked_the_very_same(owner: Person, run: Run, model: FakeModel) -> None:
    asked(owner, run)
    first, again = model.requests
    assert (again.system, again.messages) == (first.system, first.messages)
    assert (again.max_output_tokens, again.thinking) == (first.max_output_tokens, first.thinking)
    assert again.system_breakpoints == first.system_breakpoints


def test_it_tells_what_would_become_of_each_action(owner: Person, run: Run, ada: Agent) -> None:
    dry_run = asked(owner, run)
    assert dry_run.state == DryRunState.DONE
    assert (dry_run.reply, dry_run.prose) == (REPLY, "I did it.\n\n/statsu done")
    assert [(action["verb"], action["outcome"]) for action in dry_run.actions] == [
        ("status", "applied"),
        ("create-issue", "applied"),
        ("assign", "failed"),
    ]
    assert dry_run.actions[0]["before"] == {"status": "todo"}
    assert dry_run.dropped == [{"line": "/statsu done", "number": 6, "reason": "unknown-verb"}]


def test_nothing_of_it_stays(owner: Person, run: Run, issue: Issue) -> None:
    issue.refresh_from_db()
    before = everything()
    asked(owner, run)
    after = everything()
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    # Asked and ended in the activity, itself, and its call.
    assert changed == {"issues.Activity": 2, "agents.DryRun": 1, "agents.ModelCall": 1}
    now = Issue.objects.get(pk=issue.pk)
    assert (now.status, now.version, now.company.last_issue_number) == (Status.TODO, issue.version, 1)
    assert claim_next() is None


def test_it_is_judged_as_things_stand_now(owner: Person, run: Run, issue: Issue, ada: Agent) -> None:
    set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
    assert asked(owner, run).actions[0]["before"] == {"status": "in_review"}
    pause_agent(actor=owner, agent=ada)
    outcomes = {(action["outcome"], action["reason"]) for action in asked(owner, run).actions}
    assert outcomes == {("denied", "The agent was paused meanwhile.")}


def test_it_neither_waits_for_nor_disturbs_who_is_at_work_there(
    company: Company, owner: Person, run: Run, issue: Issue
) -> None:
    helper = build.agent(company, "Bob", adapter="external")
    worker = build.at_work(helper, issue, by=owner)
    assert asked(owner, run).state == DryRunState.DONE
    assert worker.run is not None
    worker.run.refresh_from_db()
    assert worker.run.state == RunState.RUNNING


def test_it_costs_what_its_calls_cost_and_the_run_keeps_its_own_figures(owner: Person, run: Run) -> None:
    before = Run.objects.get(pk=run.pk)
    dry_run = asked(owner, run)
    assert (dry_run.tokens, dry_run.cost_microdollars) == (110, 0)
    assert list(ModelCall.objects.order_by("pk").values_list("purpose", flat=True)) == ["heartbeat", "dry run"]
    assert Spending.objects.get(agent=None).tokens == 220
    assert Spending.objects.get(agent=None).runs == 1
    assert not Reservation.objects.exists()
    after = Run.objects.get(pk=run.pk)
    assert (after.input_tokens, after.reply) == (before.input_tokens, before.reply)


def test_a_budget_without_room_holds_it(company: Company, owner: Person, run: Run, model: FakeModel) -> None:
    worst = worst_case(run)
    assert worst is not None
    set_budget(actor=owner, company=company, tokens=worst.tokens)  # the run has used some of it
    dry_run = asked(owner, run)
    assert (dry_run.state, dry_run.error_kind) == (DryRunState.FAILED, "budget")
    assert len(model.requests) == 1


def test_a_failure_of_the_model_is_told(owner: Person, run: Run, model: FakeModel) -> None:
    model.answers = ["", AdapterError(ErrorKind.REFUSED, "It declined.")]
    dry_run = asked(owner, run)
    assert (dry_run.state, dry_run.error_kind, dry_run.error) == (DryRunState.FAILED, "refused", "It declined.")
    assert not Reservation.objects.exists()
    assert Run.objects.get().state == RunState.SUCCEEDED


def test_silence_is_told_too(owner: Person, run: Run, model: FakeModel) -> None:
    model.answers = [""]
    assert asked(owner, run).error_kind == "silent"


def test_a_bug_ends_it_and_the_call_counts(owner: Person, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(dry_runs, "rehearse", broken)
    dry_run = asked(owner, run)
    assert (dry_run.state, dry_run.error) == (DryRunState.FAILED, "KeyError: 'x'")
    assert not Reservation.objects.exists()
    assert Spending.objects.get(agent=None).tokens > 220


def test_why_one_cannot_be_asked_for(company: Company, owner: Person, run: Run, issue: Issue, ada: Agent) -> None:
    def refused(one: Run) -> str:
        with pytest.raises(Conflict) as refusal:
            ask_for_dry_run(actor=owner, run=one)
        return refusal.value.reason

    outside = build.at_work(build.agent(company, "Bob", adapter="external"), build.issue(company), by=owner).run
    assert outside is not None
    assert "still at work" in refused(outside)
    cancel_run(actor=owner, run=outside)
    assert "works by itself" in refused(Run.objects.get(pk=outside.pk))
    Run.objects.filter(pk=run.pk).update(user_message="")
    assert "not kept any more" in refused(Run.objects.get(pk=run.pk))
    Run.objects.filter(pk=run.pk).update(issue=None)
    assert "was deleted" in refused(Run.objects.get(pk=run.pk))


def test_one_run_has_one_at_a_time_also_when_two_ask_at_once(owner: Person, run: Run) -> None:
    def ask() -> DryRun:
        return ask_for_dry_run(actor=Person(owner.user), run=Run.objects.get(pk=run.pk))

    outcomes = at_once([ask, ask])
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "DryRun"]


def test_a_company_has_few_at_a_time(company: Company, owner: Person, run: Run) -> None:
    for _ in range(MOST_OPEN):
        other = Run.objects.get(pk=run.pk)
        other.pk = None
        other.save(force_insert=True)
        ask_for_dry_run(actor=owner, run=other)
    with pytest.raises(Conflict, match=f"{MOST_OPEN} dry re-runs"):
        ask_for_dry_run(actor=owner, run=run)


def test_two_workers_at_one_ask_the_model_once(owner: Person, run: Run, model: FakeModel) -> None:
    dry_run = ask_for_dry_run(actor=owner, run=run)
    at_once([lambda: answer_dry_run(dry_run.pk)] * 2)
    assert len(model.requests) == 2  # the run's own, and one


def test_the_sweep_rings_for_one_that_nobody_took(owner: Person, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    dry_run = ask_for_dry_run(actor=owner, run=run)
    rung: list[int] = []
    monkeypatch.setattr(dry_runs, "ring_to_rehearse", rung.append)
    tend_dry_runs()
    assert rung == [dry_run.pk]
    threads = OneByOne()
    monkeypatch.setattr(tasks, "slots", Slots(1, threads))
    tasks.rehearse(dry_run.pk)
    threads.do_all()
    tend_dry_runs()
    assert rung == [dry_run.pk]


def test_one_whose_worker_died_is_ended_and_another_can_be_asked_for(owner: Person, run: Run) -> None:
    dry_run = ask_for_dry_run(actor=owner, run=run)
    began = timezone.now() - LEFT_BEHIND - timedelta(seconds=1)
    DryRun.objects.update(state=DryRunState.RUNNING, started_at=began)
    tend_dry_runs()
    dry_run.refresh_from_db()
    assert (dry_run.state, dry_run.error_kind) == (DryRunState.FAILED, "lost")
    assert asked(owner, run).state == DryRunState.DONE


def test_it_waits_while_another_call_is_paid_in_the_runs_name(owner: Person, run: Run) -> None:
    Reservation.objects.create(run=run, month=timezone.now().date().replace(day=1))
    assert asked(owner, run).state == DryRunState.PENDING


def test_what_is_set_aside_for_one_under_way_stays_however_long_ago_its_run_ended(owner: Person, run: Run) -> None:
    ask_for_dry_run(actor=owner, run=run)
    DryRun.objects.update(state=DryRunState.RUNNING, started_at=timezone.now())
    Run.objects.update(ended_at=timezone.now() - timedelta(days=1))
    Reservation.objects.create(run=run, month=timezone.now().date().replace(day=1))
    settle_left_behind()
    assert Reservation.objects.exists()


def test_a_worker_full_of_runs_leaves_it_to_another(owner: Person, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    dry_run = ask_for_dry_run(actor=owner, run=run)
    monkeypatch.setattr(tasks, "slots", Slots(0, OneByOne()))
    tasks.rehearse(dry_run.pk)
    dry_run.refresh_from_db()
    assert dry_run.state == DryRunState.PENDING


def test_its_texts_go_with_those_of_the_run(company: Company, owner: Person, run: Run) -> None:
    asked(owner, run)
    old = timezone.now() - timedelta(days=company.retention_days + 1)
    Run.objects.update(ended_at=old)
    DryRun.objects.update(ended_at=old)
    drop_old_texts()
    assert not DryRun.objects.exists()


def test_the_agents_present_model_answers(owner: Person, run: Run, ada: Agent, model: FakeModel) -> None:
    edit_agent(actor=owner, agent=ada, thinking="high")
    asked(owner, run)
    assert model.requests[1].thinking.value == "high"
