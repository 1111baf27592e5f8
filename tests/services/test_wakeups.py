"""Wakeups: equal ones join, chains are counted, runaways are held, and what is refused says why."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial

import pytest
from django.utils import timezone

from agents import listeners
from agents.models import Agent, Run, RunState, Wakeup, WakeupSource, WakeupState
from agents.services import wakeups
from agents.services.agents import pause_agent, terminate_agent, worker_for
from agents.services.runs import release
from agents.services.wakeups import ask_for_heartbeat, next_work, run_agent, run_heartbeat, wake_on_schedule
from issues.actors import Person, Worker
from issues.effects import quietly, unit
from issues.models import Activity, Company, InboxItem, InboxKind, Issue, Priority, Role, Status, Verdict
from issues.refusals import Conflict, NotFound
from issues.services.approvals import request_approval
from issues.services.blockers import add_blockers, remove_blockers
from issues.services.comments import write_comment
from issues.services.companies import change_company
from issues.services.issues import assign_issue, set_status
from issues.services.reviews import give_verdict, set_reviewers
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


def mention(worker: Worker, agent: Agent, issue: Issue) -> Wakeup:
    """What the worker's comment that names the agent becomes."""
    comment = write_comment(actor=worker, issue=issue, body=f"@{agent.handle}, please.")
    return Wakeup.objects.get(comment=comment, agent=agent)


def work(agent: Agent, issue: Issue, *, by: Person | None = None) -> Worker:
    """The agent in its next run there; the run it had is over."""
    for run in Run.objects.live().filter(issue=issue).select_related("agent", "issue"):
        release(actor=worker_for(run.agent, run), issue=issue)
    return build.at_work(agent, issue, by=by)


class TestJoining:
    def test_fifty_equal_requests_are_one_wakeup(self, owner: Person, ada: Agent, issue: Issue) -> None:
        for _ in range(50):
            run_heartbeat(actor=owner, agent=ada, issue=issue)
        assert Wakeup.objects.get().joined == 49

    def test_what_comes_during_the_run_is_one_more(self, owner: Person, ada: Agent, issue: Issue) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        build.at_work(ada, issue)
        for _ in range(50):
            run_heartbeat(actor=owner, agent=ada, issue=issue)
        states = Wakeup.objects.order_by("pk").values_list("state", "joined")
        assert list(states) == [(WakeupState.CLAIMED, 0), (WakeupState.PENDING, 49)]

    def test_another_source_subject_issue_or_agent_is_another_wakeup(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        run_heartbeat(actor=owner, agent=bob, issue=issue)
        run_heartbeat(actor=owner, agent=ada, issue=build.issue(company))
        build.comment(issue, "@ada, one")
        build.comment(issue, "@ada, two")
        assert Wakeup.objects.count() == 5

    def test_what_people_said_with_it_is_kept_together(self, company: Company, owner: Person, ada: Agent) -> None:
        issue = build.issue(company)
        for note in ("Look at the tests.", "", "And at the docs."):
            run_heartbeat(actor=owner, agent=ada, issue=issue, note=note)
        assert Wakeup.objects.get().note == "Look at the tests.\n\nAnd at the docs."

    def test_a_person_who_joins_lifts_it_to_a_persons(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        home = build.issue(company, assignee=bob)
        child = build.issue(company, actor=build.at_work(bob, home), parent=home, assignee=ada)
        before = Wakeup.objects.get(agent=ada)
        assert before.depth > 0
        with unit():  # away and back: it is assigned by a person now
            issue = assign_issue(actor=owner, issue=child, assignee=None)
            assign_issue(actor=owner, issue=issue, assignee=ada)
        after = Wakeup.objects.get(agent=ada)
        assert (after.pk, after.joined, after.depth, after.member) == (before.pk, 1, 0, owner.member)
        assert (after.chain, after.chain_member) == (after.pk, owner.member)

    @pytest.mark.django_db(transaction=True)
    def test_fifty_in_eight_threads_are_one_row(self, owner: Person, ada: Agent, issue: Issue) -> None:
        def ask(times: int) -> None:
            for _ in range(times):
                ask_for_heartbeat(actor=owner, agent=ada, issue=issue)

        assert at_once([partial(ask, times) for times in (7, 7, 6, 6, 6, 6, 6, 6)]) == [None] * 8
        assert Wakeup.objects.get().joined == 49

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("_", range(3))
    def test_what_is_asked_while_a_run_takes_it_joins_or_is_one_more(
        self, _: int, company: Company, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        ask_for_heartbeat(actor=owner, agent=ada, issue=issue)
        outcomes = at_once(
            [
                partial(ask_for_heartbeat, actor=owner, agent=ada, issue=issue),
                partial(build.at_work, ada, issue),
                partial(ask_for_heartbeat, actor=owner, agent=ada, issue=issue),
            ]
        )
        assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        assert sum(1 + wakeup.joined for wakeup in Wakeup.objects.all()) == 3
        assert Wakeup.objects.filter(state=WakeupState.PENDING).count() <= 1


class TestChains:
    def test_a_person_begins_one(self, owner: Person, ada: Agent, issue: Issue) -> None:
        wakeup = run_heartbeat(actor=owner, agent=ada, issue=issue)
        assert (wakeup.depth, wakeup.chain, wakeup.chain_member) == (0, wakeup.pk, owner.member)
        assert wakeup.is_from_person

    def test_a_run_goes_on_with_the_chain_of_what_it_delivers(self, owner: Person, ada: Agent, issue: Issue) -> None:
        wakeup = run_heartbeat(actor=owner, agent=ada, issue=issue)
        run = build.at_work(ada, issue).run
        assert run is not None
        assert (run.depth, run.chain, run.chain_member) == (0, wakeup.chain, owner.member)

    def test_what_a_run_causes_is_one_deeper_in_its_chain(
        self, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        first = run_heartbeat(actor=owner, agent=ada, issue=issue)
        second = mention(work(ada, issue), bob, issue)
        assert (second.depth, second.chain, second.chain_member) == (1, first.chain, owner.member)
        assert (second.by_agent, second.is_from_person) == (ada, False)
        third = mention(work(bob, issue), ada, issue)
        assert (third.depth, third.chain) == (2, first.chain)

    def test_a_persons_wakeup_among_those_delivered_sets_the_depth_back(
        self, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        mention(work(ada, issue), bob, issue)
        by_person = run_heartbeat(actor=owner, agent=bob, issue=issue)
        run = work(bob, issue).run
        assert run is not None
        assert (run.depth, run.chain) == (0, by_person.chain)

    def test_of_several_by_agents_the_deepest_counts(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        carl = build.agent(company, "Carl")
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        worker = work(ada, issue)
        shallow = mention(worker, carl, issue)
        mention(worker, bob, issue)
        deep = mention(work(bob, issue), carl, issue)
        run = work(carl, issue).run
        assert run is not None
        assert (shallow.depth, run.depth) == (1, deep.depth) == (1, 2)

    def test_blockers_and_children_that_end_keep_the_depth(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        parent = build.issue(company, assignee=bob, status=Status.BACKLOG)
        blocker = build.issue(company, assignee=ada, parent=parent)
        waiting = build.issue(company, assignee=bob, blockers=[blocker])
        worker = build.at_work(ada, blocker, by=owner)
        build.comment(blocker, "Done.", actor=worker)
        set_status(actor=worker, issue=blocker, status=Status.DONE)
        found = {
            wakeup.source: wakeup.depth for wakeup in Wakeup.objects.filter(agent=bob, issue__in=[parent, waiting])
        }
        assert found == {WakeupSource.CHILD_CLOSED: 0, WakeupSource.BLOCKER_RESOLVED: 0}

    def test_what_an_agent_does_outside_of_a_run_begins_one(self, company: Company, ada: Agent, bob: Agent) -> None:
        wakeup = mention(worker_for(ada), bob, build.issue(company))
        assert (wakeup.depth, wakeup.chain, wakeup.chain_member) == (0, wakeup.pk, None)

    def test_but_where_it_was_asked_it_goes_on_with_the_chain_of_that(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        """Else an agent that never checks out could be woken, and wake others, for ever."""
        run_heartbeat(actor=owner, agent=bob, issue=issue)
        asked = mention(work(bob, issue), ada, issue)
        for place in (issue, build.issue(company, parent=issue)):
            wakeup = mention(worker_for(ada), bob, place)
            assert (wakeup.depth, wakeup.chain, wakeup.chain_member) == (2, asked.chain, owner.member)
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        assert mention(worker_for(ada), build.agent(company, "Carl"), issue).depth == 1

    def test_what_the_board_approved_begins_one(self, owner: Person, ada: Agent, bob: Agent, issue: Issue) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        run = work(ada, issue).run
        wakeup = mention(worker_for(ada, run, approved=True), bob, issue)
        assert (wakeup.depth, wakeup.chain) == (0, wakeup.pk)


def assert_held(wakeup: Wakeup, why: str, owner: Person) -> None:
    """The wakeup was refused by a guard: the issue says so and the board was told."""
    assert (wakeup.state, why in wakeup.ended_because) == (WakeupState.REFUSED, True), wakeup.ended_because
    line = Activity.objects.filter(kind="guard.stopped").latest("pk")
    assert (line.issue_id, line.data["wakeup"], line.data["agent"]) == (wakeup.issue_id, wakeup.pk, wakeup.agent_id)
    item = InboxItem.objects.get(member=owner.member, kind=InboxKind.STOPPED)
    assert item.issue_id == wakeup.issue_id
    assert why in item.text


class TestRunaways:
    def test_over_the_hop_limit_nobody_is_woken_and_the_board_is_told(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        company = change_company(actor=owner, company=company, hop_limit=2)
        boss = build.member(company, "boss", role=Role.BOARD)
        issues = [build.issue(company) for _ in range(4)]
        worker = build.at_work(ada, issues[0], by=owner)
        for issue, agent in zip(issues[1:3], (bob, ada), strict=True):
            assert mention(worker, agent, issue).state == WakeupState.PENDING
            worker = work(agent, issue)
        last = mention(worker, bob, issues[3])
        assert_held(last, "limit is 2", owner)
        assert boss.member.inbox_items.filter(kind=InboxKind.STOPPED).exists()

    def test_a_third_visit_of_one_agent_on_one_issue_is_refused(
        self, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        worker = work(ada, issue)
        for agent in (bob, ada, bob, ada):
            assert mention(worker, agent, issue).state == WakeupState.PENDING
            worker = work(agent, issue)
        assert_held(mention(worker, bob, issue), "2 times in one chain", owner)

    def test_handing_it_back_and_forth_counts_as_visiting(
        self, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        worker = work(ada, issue)
        for agent in (bob, ada, bob, ada):
            assign_issue(actor=worker, issue=issue, assignee=agent)
            worker = work(agent, issue)
        assign_issue(actor=worker, issue=issue, assignee=bob)
        assert_held(Wakeup.objects.filter(agent=bob).latest("pk"), "2 times in one chain", owner)

    def test_several_mentions_in_one_run_are_one_visit(
        self, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        worker = work(ada, issue)
        assert {mention(worker, bob, issue).state for _ in range(5)} == {WakeupState.PENDING}
        mention(work(bob, issue), ada, issue)
        assert mention(work(ada, issue), bob, issue).state == WakeupState.PENDING, "the second visit"

    def test_another_issue_is_another_visit(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        worker = work(ada, issue)
        for agent in (bob, ada, bob, ada):
            mention(worker, agent, issue)
            worker = work(agent, issue)
        assert mention(worker, bob, build.issue(company)).state == WakeupState.PENDING

    def test_a_person_begins_the_count_anew(self, owner: Person, ada: Agent, bob: Agent, issue: Issue) -> None:
        for _ in range(3):
            run_heartbeat(actor=owner, agent=ada, issue=issue)
            worker = work(ada, issue)
            assert mention(worker, bob, issue).state == WakeupState.PENDING
            work(bob, issue)

    def test_work_that_is_sent_back_is_no_visit(self, company: Company, owner: Person, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        set_reviewers(actor=owner, issue=issue, reviewers=[bob])
        worker = work(ada, issue)
        for _ in range(2):
            set_status(actor=worker, issue=issue, status=Status.IN_REVIEW)
            give_verdict(actor=work(bob, issue), issue=issue, verdict=Verdict.SEND_BACK)
            worker = work(ada, issue)
        set_status(actor=worker, issue=issue, status=Status.IN_REVIEW)
        reviewer = work(bob, issue)
        assert mention(reviewer, ada, issue).state == WakeupState.PENDING
        assert not Activity.objects.filter(kind="guard.stopped").exists()

    def test_nor_is_it_refused_after_visits(self, company: Company, owner: Person, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        set_reviewers(actor=owner, issue=issue, reviewers=[bob])
        worker = work(ada, issue)
        set_status(actor=worker, issue=issue, status=Status.IN_REVIEW)
        reviewer = work(bob, issue)
        for _ in range(2):
            mention(reviewer, ada, issue)
            mention(work(ada, issue), bob, issue)
            reviewer = work(bob, issue)
        give_verdict(actor=reviewer, issue=issue, verdict=Verdict.SEND_BACK)
        assert [wakeup.source for wakeup in build.pending(ada)] == [WakeupSource.ASSIGNED]

    def test_a_chain_has_so_many_runs_at_most(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(wakeups, "RUNS_IN_CHAIN", 2)
        first, second, third = (build.issue(company) for _ in range(3))
        run_heartbeat(actor=owner, agent=ada, issue=first)
        worker = work(ada, first)
        mention(worker, bob, second)
        assert_held(mention(work(bob, second), ada, third), "had 2 runs", owner)

    def test_people_are_never_held(self, company: Company, owner: Person, ada: Agent, issue: Issue) -> None:
        change_company(actor=owner, company=company, hop_limit=0)
        for _ in range(5):
            assert run_heartbeat(actor=owner, agent=ada, issue=issue).state == WakeupState.PENDING
            work(ada, issue)


class TestNever:
    @pytest.mark.parametrize(("end", "why"), [(pause_agent, "paused"), (terminate_agent, "terminated")])
    def test_an_agent_that_cannot_run_is_not_woken_and_the_row_says_why(
        self, end: Callable[..., Agent], why: str, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        end(actor=owner, agent=ada)
        with pytest.raises(Conflict, match=why):
            run_heartbeat(actor=owner, agent=ada, issue=issue)
        refused = Wakeup.objects.get(agent=ada)
        assert (refused.state, refused.ended_because) == (WakeupState.REFUSED, f"@ada is {why}.")
        assert refused.ended_at is not None
        line = Activity.objects.get(kind="wakeup.refused")
        assert line.data["wakeup"] == refused.pk
        assert not InboxItem.objects.exists(), "the person was told at once"

    def test_refused_rows_do_not_join(self, owner: Person, ada: Agent, issue: Issue) -> None:
        pause_agent(actor=owner, agent=ada)
        for _ in range(3):
            build.comment(issue, "@ada")
        assert Wakeup.objects.filter(state=WakeupState.REFUSED).count() == 3

    @pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
    def test_a_person_runs_it_on_a_closed_issue_too(
        self, status: Status, company: Company, owner: Person, ada: Agent
    ) -> None:
        closed = build.issue(company, status=status)
        assert run_heartbeat(actor=owner, agent=ada, issue=closed).state == WakeupState.PENDING

    def test_an_agent_of_another_company_is_not_found(self, owner: Person, issue: Issue) -> None:
        foreign = build.agent(build.company_with_founder("OTHER")[0])
        with pytest.raises(NotFound):
            run_heartbeat(actor=owner, agent=foreign, issue=issue)

    def test_quietly_wakes_nobody(self, company: Company, owner: Person, ada: Agent) -> None:
        with quietly():
            issue = build.issue(company, assignee=ada, description="@ada")
            build.comment(issue, "@ada")
        assert not Wakeup.objects.exists()
        build.comment(issue, "@ada")
        assert Wakeup.objects.count() == 1


class TestNextWork:
    @pytest.mark.parametrize("status", Status)
    def test_only_its_own_in_todo_and_in_progress(
        self, status: Status, company: Company, ada: Agent, bob: Agent
    ) -> None:
        build.issue(company, assignee=bob)
        build.issue(company)
        issue = build.issue(company, assignee=ada, status=status)
        assert next_work(ada) == (issue if status.is_workable else None)

    def test_highest_priority_first_then_least_recently_run_then_rank(self, company: Company, ada: Agent) -> None:
        low, first, second = (
            build.issue(company, assignee=ada, priority=priority)
            for priority in (Priority.LOW, Priority.HIGH, Priority.HIGH)
        )
        order = []
        for _ in range(3):
            found = next_work(ada)
            assert found is not None
            order.append(found)
            work(ada, found)
        assert order == [first, second, first]
        assert low not in order

    def test_what_waits_for_a_child_a_blocker_or_an_answer_is_passed_over(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        with_child, with_blocker, with_question = (build.issue(company, assignee=ada) for _ in range(3))
        child = build.issue(company, parent=with_child)
        blocker = build.issue(company)
        add_blockers(actor=owner, issue=with_blocker, blockers=[blocker])
        set_status(actor=owner, issue=with_blocker, status=Status.TODO)
        request_approval(actor=owner, issue=with_question, title="May I?")
        assert next_work(ada) is None
        set_status(actor=owner, issue=child, status=Status.DONE)
        assert next_work(ada) == with_child
        set_status(actor=owner, issue=with_child, status=Status.BACKLOG)
        remove_blockers(actor=owner, issue=with_blocker, blockers=[blocker])
        assert next_work(ada) == with_blocker

    def test_run_agent_takes_it_and_without_any_says_so(self, company: Company, owner: Person, ada: Agent) -> None:
        with pytest.raises(Conflict, match="no issue in todo or in progress"):
            run_agent(actor=owner, agent=ada)
        issue = build.issue(company, assignee=ada)
        wakeup = run_agent(actor=owner, agent=ada, note="Go on.")
        assert (wakeup.issue, wakeup.source, wakeup.note) == (issue, WakeupSource.MANUAL, "Go on.")

    def test_the_schedule_takes_it_and_without_any_does_nothing(self, company: Company, ada: Agent) -> None:
        assert wake_on_schedule(agent=ada) is None
        assert not Wakeup.objects.exists()
        assert not Run.objects.exists()
        issue = build.issue(company, assignee=ada)
        wakeup = wake_on_schedule(agent=ada)
        assert wakeup is not None
        assert (wakeup.issue, wakeup.source, wakeup.depth) == (issue, WakeupSource.SCHEDULE, 0)
        assert (wakeup.is_from_person, wakeup.chain) == (False, wakeup.pk)

    def test_rounds_without_work_are_counted_and_others_are_not(self, company: Company, ada: Agent) -> None:
        ada.refresh_from_db()
        assert (ada.idle_rounds, ada.idle_round_at) == (0, None)
        for _ in range(2):
            wake_on_schedule(agent=ada)
        build.issue(company, assignee=ada)
        wake_on_schedule(agent=ada)
        ada.refresh_from_db()
        assert ada.idle_rounds == 2
        assert ada.idle_round_at is not None
        assert timezone.now() - ada.idle_round_at < datetime.timedelta(minutes=1)


@pytest.mark.django_db(transaction=True)
def test_the_doorbell_rings_after_the_commit_and_not_after_a_rollback(
    owner: Person, ada: Agent, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(listeners, "doorbells", (lambda: seen.append(Wakeup.objects.count()),))

    def ask_and_fail() -> None:
        with unit():
            ask_for_heartbeat(actor=owner, agent=ada, issue=issue)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask_and_fail()
    assert seen == []
    with unit():
        ask_for_heartbeat(actor=owner, agent=ada, issue=issue)
        assert seen == []
    assert seen == [1]


def test_a_run_that_ends_frees_the_issue(owner: Person, ada: Agent, issue: Issue) -> None:
    run = work(ada, issue).run
    assert run is not None
    again = work(ada, issue).run
    run.refresh_from_db()
    assert (run.state, again is not None) == (RunState.SUCCEEDED, True)
