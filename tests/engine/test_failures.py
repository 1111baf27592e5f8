"""Every way in which a run fails: what comes back, what is told, and that nothing else is touched."""

from __future__ import annotations

import datetime

import pytest
from django.db import OperationalError
from django.utils import timezone

from agents.adapters.base import AdapterError, ErrorKind, StopReason, Usage
from agents.models import Agent, ModelCall, Run, RunState, Wakeup, WakeupState
from agents.services.agents import terminate_agent
from engine import apply, preparing
from engine.claim import claim_next
from engine.completion import ANSWER_PLEASE
from engine.delivery import BACKOFF, SPREAD, TRIES, give_back
from engine.heartbeat import heartbeat
from engine.routing import Route
from engine.turns import database_turn
from issues.actors import Person
from issues.models import Company, InboxItem, InboxKind, Issue, Status
from tests import build
from tests.engine.running import FakeModel, run_all, run_next, said
from tests.engine.test_claiming import mention, quiet_issue

pytestmark = pytest.mark.django_db(transaction=True)

FINAL = (ErrorKind.AUTH, ErrorKind.REFUSED, ErrorKind.BAD_REQUEST, ErrorKind.CONTEXT_TOO_LONG)


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    """An issue on which Ada was woken, by nobody in person."""
    issue = quiet_issue(company)
    mention(ada, issue)
    return issue


def failing(kind: ErrorKind, *, retry_after: float | None = None) -> AdapterError:
    # The provider's own wish is long, or the adapter would wait it out itself.
    return AdapterError(kind, f"It was {kind.value}.", retry_after=retry_after, usage=Usage(7, output_tokens=1))


def make_due() -> None:
    Wakeup.objects.filter(state=WakeupState.PENDING).update(due_at=timezone.now())


class TestRetryable:
    def test_its_wakeups_come_back_with_a_due_time_and_a_note_of_the_try(
        self, issue: Issue, model: FakeModel, owner: Person
    ) -> None:
        model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60)]
        before = timezone.now()
        run = run_next()
        assert (run.state, run.error_kind, run.error) == (RunState.FAILED, "overloaded", "It was overloaded.")
        wakeup = Wakeup.objects.get()
        assert (wakeup.state, wakeup.run, wakeup.tries) == (WakeupState.PENDING, None, 1)
        assert wakeup.waiting_because == "Try 1 failed: It was overloaded."
        wait = wakeup.due_at - before
        assert datetime.timedelta(seconds=60) <= wait <= datetime.timedelta(seconds=60 * (1 + SPREAD) + 30)
        assert claim_next() is None
        assert not InboxItem.objects.exists()

    def test_the_backoff_counts_where_the_provider_asks_for_less(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [failing(ErrorKind.NETWORK, retry_after=31)]
        Wakeup.objects.update(tries=1)
        before = timezone.now()
        run_next()
        assert Wakeup.objects.get().due_at - before >= BACKOFF[1] > datetime.timedelta(seconds=31)

    def test_a_later_try_that_succeeds_delivers_them(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60), "Here I am."]
        run_next()
        make_due()
        run = run_next()
        assert run.state == RunState.SUCCEEDED
        assert Wakeup.objects.get().state == WakeupState.CONSUMED
        assert issue.comments.get().body == "Here I am."

    def test_the_last_try_is_final_and_told(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60)]
        for _ in range(TRIES):
            make_due()
            run_next()
        make_due()
        assert claim_next() is None
        assert Wakeup.objects.get().state == WakeupState.CONSUMED
        told = InboxItem.objects.get()
        assert (told.member, told.kind) == (issue.responsible, InboxKind.FAILURE)
        assert "It was overloaded." in told.text

    def test_it_merges_with_a_twin_that_came_meanwhile(self, ada: Agent, issue: Issue, model: FakeModel) -> None:
        model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60)]
        model.meanwhile = lambda: mention(ada, issue)
        run_next()
        first, twin = Wakeup.objects.order_by("pk")
        assert (first.state, first.ended_because) == (
            WakeupState.STALE,
            "An equal wakeup came meanwhile and stands for it.",
        )
        assert (twin.state, twin.tries, twin.joined) == (WakeupState.PENDING, 1, 1)

    def test_equal_ones_that_one_run_took_come_back_as_one(self, ada: Agent, issue: Issue, model: FakeModel) -> None:
        """The second came after the claim and before the prompt, which took it in."""
        model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60)]
        run = claim_next()
        assert run is not None
        mention(ada, issue)
        heartbeat(run)
        run.refresh_from_db()
        assert run.state == RunState.FAILED
        first, second = Wakeup.objects.order_by("pk")
        assert (first.state, first.tries, first.joined) == (WakeupState.PENDING, 1, 1)
        assert second.state == WakeupState.STALE

    def test_what_a_person_asked_for_stays_a_persons_when_it_merges(
        self, company: Company, ada: Agent, model: FakeModel, owner: Person
    ) -> None:
        issue = build.issue(company, assignee=ada)  # woken by the person who assigned it

        def meanwhile() -> None:
            wakeup = Wakeup.objects.get()
            wakeup.pk, wakeup.member, wakeup.run, wakeup.depth = None, None, None, 3
            wakeup.state, wakeup.note = WakeupState.PENDING, "From an agent."
            wakeup.save()

        model.answers = [failing(ErrorKind.NETWORK, retry_after=60)]
        model.meanwhile = meanwhile
        run_next()
        twin = Wakeup.objects.get(state=WakeupState.PENDING)
        assert (twin.member, twin.depth, twin.note) == (build.member_row(owner), 0, "From an agent.")
        assert issue.company == company

    def test_a_new_wakeup_is_not_spent_by_the_tries_of_an_older_one(
        self, ada: Agent, issue: Issue, owner: Person, model: FakeModel
    ) -> None:
        Wakeup.objects.update(tries=TRIES - 1)
        build.comment(issue, "@ada, are you there?", actor=owner)
        model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60)]
        run_next()
        old, new = Wakeup.objects.order_by("pk")
        assert (old.state, new.state, new.tries) == (WakeupState.CONSUMED, WakeupState.PENDING, 1)
        assert InboxItem.objects.get().kind == InboxKind.FAILURE

    def test_those_of_an_agent_that_was_terminated_meanwhile_end(
        self, ada: Agent, issue: Issue, model: FakeModel, owner: Person
    ) -> None:
        model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60)]
        model.meanwhile = lambda: terminate_agent(actor=owner, agent=ada)
        assert run_next().state == RunState.FAILED
        wakeup = Wakeup.objects.get()
        assert (wakeup.state, wakeup.ended_because) == (WakeupState.STALE, "The agent was terminated.")

    def test_the_issue_and_the_agent_are_free_at_once(self, ada: Agent, issue: Issue, model: FakeModel) -> None:
        model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60)]
        run_next()
        assert not ada.runs.live().exists()
        assert not issue.runs.live().exists()


@pytest.mark.parametrize("kind", FINAL)
def test_what_will_not_pass_is_final_and_told_at_once(kind: ErrorKind, issue: Issue, model: FakeModel) -> None:
    model.answers = [failing(kind)]
    run = run_next()
    assert (run.state, run.error_kind) == (RunState.FAILED, kind.value)
    assert Wakeup.objects.get().state == WakeupState.CONSUMED
    assert InboxItem.objects.get().kind == InboxKind.FAILURE


def test_a_model_that_declines_is_recorded_with_what_it_cost(issue: Issue, model: FakeModel) -> None:
    model.answers = [said("I will not.", StopReason.REFUSED)]
    run = run_next()
    assert (run.state, run.error_kind) == (RunState.FAILED, "refused")
    assert run.input_tokens == 100
    assert not issue.comments.exists()


def test_failed_calls_are_rows_with_what_they_cost(issue: Issue, model: FakeModel) -> None:
    model.answers = [failing(ErrorKind.AUTH)]
    run = run_next()
    call = ModelCall.objects.get(run=run)
    assert (call.error_kind, call.error, call.input_tokens) == ("auth", "It was auth.", 7)


class TestSilence:
    def test_an_empty_answer_is_asked_for_once_more(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [" \n ", "There."]
        run = run_next()
        assert run.state == RunState.SUCCEEDED
        assert [ANSWER_PLEASE in request.messages[0].text for request in model.requests] == [False, True]
        assert ModelCall.objects.filter(run=run).count() == 2
        assert run.input_tokens == 200

    def test_silence_again_fails_the_run_and_is_told(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [""]
        run = run_next()
        assert (run.state, run.error_kind, len(model.requests)) == (RunState.FAILED, "silent", 2)
        assert Wakeup.objects.get().state == WakeupState.CONSUMED
        assert InboxItem.objects.get().kind == InboxKind.FAILURE

    def test_reasoning_alone_is_silence(self, issue: Issue, model: FakeModel) -> None:
        model.answers = ["<think>Hm.</think>"]
        assert run_next().error_kind == "silent"

    def test_to_pass_is_an_answer(self, issue: Issue, model: FakeModel) -> None:
        model.answers = ["/pass nothing to do"]
        assert run_next().state == RunState.SUCCEEDED
        assert not issue.comments.exists()


class TestCutOff:
    def test_a_verb_cut_in_the_middle_is_joined_before_it_is_read(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [said("Moving it.\n\n/status in_pro", StopReason.MAX_TOKENS), said("gress\n")]
        run = run_next()
        assert run.reply == "Moving it.\n\n/status in_progress\n"
        assert [(action.verb, action.args) for action in run.actions.all()] == [("status", "in_progress")]
        assert model.requests[1].messages[1].text == "Moving it.\n\n/status in_pro"

    def test_it_is_asked_to_go_on_three_times_and_then_read_as_it_is(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [said("a ", StopReason.MAX_TOKENS)]
        run = run_next()
        assert len(model.requests) == 4
        assert (run.reply, run.stop_reason, run.state) == ("a a a a ", "max_tokens", RunState.SUCCEEDED)

    def test_each_further_call_has_only_what_is_left_of_the_runs_time(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [said("a ", StopReason.MAX_TOKENS), "b"]
        model.seconds = 0.3
        run_next()
        first, second = (request.deadline_seconds for request in model.requests)
        assert second <= first - 0.3


class TestBugs:
    def test_an_exception_ends_its_run_with_the_reason_and_no_other(
        self, company: Company, ada: Agent, bob: Agent, issue: Issue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = quiet_issue(company)
        mention(bob, other)
        whole = preparing.gather

        def gather(run: Run, route: Route) -> object:
            if run.issue_id == issue.pk:
                raise ZeroDivisionError("by nought")
            return whole(run, route)

        monkeypatch.setattr(preparing, "gather", gather)
        states = {run.agent_id: (run.state, run.error) for run in run_all()}
        assert states == {
            ada.pk: (RunState.FAILED, "ZeroDivisionError: by nought"),
            bob.pk: (RunState.SUCCEEDED, ""),
        }
        assert InboxItem.objects.get(issue=issue).kind == InboxKind.FAILURE

    def test_a_bug_of_the_provider_ends_its_run(self, issue: Issue, model: FakeModel) -> None:
        model.answers = [KeyError("choices")]
        run = run_next()
        assert (run.state, run.error_kind, run.error) == (RunState.FAILED, "error", "KeyError: 'choices'")

    def test_nothing_of_a_reply_stays_when_applying_it_fails(
        self, company: Company, ada: Agent, monkeypatch: pytest.MonkeyPatch, model: FakeModel
    ) -> None:
        issue = build.issue(company, assignee=ada)
        model.answers = ["Done.\n/status done"]

        def follow_up(*_args: object) -> None:
            raise ZeroDivisionError("by nought")

        monkeypatch.setattr(apply, "follow_up", follow_up)
        run = run_next()
        issue.refresh_from_db()
        assert (run.state, run.reply) == (RunState.FAILED, "Done.\n/status done")
        assert (issue.status, issue.comments.count(), run.actions.count()) == (Status.TODO, 0, 0)

    def test_a_run_whose_database_went_away_is_left_to_its_lease(
        self, issue: Issue, model: FakeModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def follow_up(*_args: object) -> None:
            raise OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(apply, "follow_up", follow_up)
        run = run_next()
        assert (run.state, run.reply, run.applied_at) == (RunState.RUNNING, "Noted.", None)
        assert Wakeup.objects.get().state == WakeupState.CLAIMED

    def test_a_wrong_statement_is_a_bug_and_no_outage(
        self, issue: Issue, monkeypatch: pytest.MonkeyPatch, model: FakeModel
    ) -> None:
        def follow_up(*_args: object) -> None:
            Run.objects.raw("SELECT nonsense FROM nowhere")[0]

        monkeypatch.setattr(apply, "follow_up", follow_up)
        assert run_next().state == RunState.FAILED


def test_a_comment_that_is_refused_does_not_keep_the_actions_from_being_tried(
    company: Company, ada: Agent, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from issues.refusals import Forbidden

    def write_comment(**_fields: object) -> None:
        raise Forbidden("No word from you.")

    monkeypatch.setattr(apply, "write_comment", write_comment)
    issue = build.issue(company, assignee=ada)
    model.answers = ["Hello.\n/priority high"]
    run = run_next()
    assert (run.state, run.error) == (RunState.SUCCEEDED, "The comment was refused. No word from you.")
    issue.refresh_from_db()
    assert issue.get_priority_display() == "High"


def test_a_failure_after_a_cancel_changes_nothing_any_more(issue: Issue, model: FakeModel, owner: Person) -> None:
    from agents.services.runs import cancel_run

    model.answers = [failing(ErrorKind.OVERLOADED, retry_after=60)]
    model.meanwhile = lambda: cancel_run(actor=owner, run=Run.objects.get())
    run = run_next()
    assert run.state == RunState.CANCELLED
    assert Wakeup.objects.get().state == WakeupState.CONSUMED


def test_a_twin_that_is_committed_while_a_wakeup_returns_is_merged_with(
    ada: Agent, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another process does it: between the look for a twin and the write."""
    from engine import delivery

    run = claim_next()
    assert run is not None
    wakeup = Wakeup.objects.get()
    whole = delivery.savepoint
    came: list[bool] = []

    def savepoint() -> object:
        if not came:
            came.append(True)
            twin = Wakeup.objects.get(pk=wakeup.pk)
            twin.pk, twin.run, twin.state = None, None, WakeupState.PENDING
            twin.save()
        return whole()

    monkeypatch.setattr(delivery, "savepoint", savepoint)
    from issues.effects import unit

    with database_turn(), unit():
        assert give_back(run, wait=0)
    assert sorted(Wakeup.objects.values_list("state", flat=True)) == [WakeupState.PENDING, WakeupState.STALE]


def test_a_heartbeat_that_fails_leaves_nothing_behind_in_the_thread(issue: Issue, model: FakeModel) -> None:
    model.answers = [KeyError("choices"), "Noted."]
    run_next()
    mention(issue.wakeups.get().agent, issue)
    run = claim_next()
    assert run is not None
    heartbeat(run)
    run.refresh_from_db()
    assert run.state == RunState.SUCCEEDED
