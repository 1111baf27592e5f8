"""Runs from outside: the checkout of an issue, giving it back, and cancelling."""

from __future__ import annotations

from functools import partial

import pytest
from pytest_django.fixtures import Settings

from agents.models import Agent, Reservation, Run, RunState, Spending, Wakeup, WakeupState
from agents.services.agents import edit_agent, pause_agent, worker_for
from agents.services.runs import CheckedOut, cancel_run, check_out, release, touch_external
from agents.services.spending import set_budget
from agents.services.wakeups import run_heartbeat
from issues.actors import Person
from issues.models import Activity, Company, InboxItem, InboxKind, Issue
from issues.refusals import Conflict, Forbidden, NotFound
from issues.services.companies import change_company, pause_company
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


class TestCheckingOut:
    def test_an_agent_claims_for_itself_and_its_wakeups_are_delivered(self, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        run = check_out(actor=worker_for(ada), issue=issue)
        assert (run.agent, run.issue, run.state, run.adapter) == (ada, issue, RunState.RUNNING, "external")
        assert [(wakeup.state, wakeup.run) for wakeup in Wakeup.objects.all()] == [(WakeupState.CLAIMED, run)]

    def test_a_second_claim_is_told_who_holds_it_and_since_when(
        self, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        run = check_out(actor=worker_for(ada), issue=issue)
        for claim in (
            partial(check_out, actor=worker_for(bob)),
            partial(check_out, actor=worker_for(ada)),
            partial(check_out, actor=owner, agent=bob),
        ):
            with pytest.raises(CheckedOut) as refused:
                claim(issue=issue)
            held = refused.value
            assert (held.holder, held.since, held.run_id, held.http_status) == ("ada", run.created_at, run.pk, 409)
            assert f"{run.created_at:%Y-%m-%d %H:%M}" in held.reason

    def test_a_person_claims_for_an_agent_and_begins_a_chain(self, owner: Person, ada: Agent, issue: Issue) -> None:
        run = check_out(actor=owner, issue=issue, agent=ada)
        assert (run.chain_member, run.depth) == (owner.member, 0)
        with pytest.raises(Forbidden, match="Only an agent"):
            check_out(actor=owner, issue=issue)

    def test_nobody_claims_for_somebody_else(self, ada: Agent, bob: Agent, issue: Issue) -> None:
        with pytest.raises(Forbidden, match="itself only"):
            check_out(actor=worker_for(ada), issue=issue, agent=bob)

    def test_an_agent_of_another_company_is_not_found(self, owner: Person, issue: Issue) -> None:
        foreign = build.agent(build.company_with_founder("OTHER")[0])
        with pytest.raises(NotFound):
            check_out(actor=worker_for(foreign), issue=issue)
        with pytest.raises(NotFound):
            check_out(actor=owner, issue=issue, agent=foreign)

    def test_an_agent_that_is_paused_since_it_was_read_cannot_start(
        self, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        pause_agent(actor=owner, agent=Agent.objects.get(pk=ada.pk))
        assert ada.is_active
        with pytest.raises(Conflict, match="@ada is paused"):
            check_out(actor=worker_for(ada), issue=issue)

    def test_in_a_paused_company_nothing_starts(
        self, company: Company, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        pause_company(actor=owner, company=company)
        with pytest.raises(Conflict, match="company is paused"):
            check_out(actor=worker_for(ada), issue=issue)

    def test_an_agent_and_a_company_have_so_many_runs_at_once(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        edit_agent(actor=owner, agent=ada, max_concurrent_runs=1)
        change_company(actor=owner, company=company, max_concurrent_runs=2)
        first, second, third = (build.issue(company) for _ in range(3))
        check_out(actor=worker_for(ada), issue=first)
        with pytest.raises(Conflict, match="@ada is at work on one run"):
            check_out(actor=worker_for(ada), issue=second)
        check_out(actor=worker_for(bob), issue=second)
        with pytest.raises(Conflict, match="company has 2 runs"):
            check_out(actor=worker_for(bob), issue=third)

    def test_it_counts_as_a_run_in_the_budget_and_sets_nothing_else_aside(
        self, company: Company, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        set_budget(actor=owner, company=company, runs=1)
        run = check_out(actor=worker_for(ada), issue=issue)
        row = Spending.objects.get(agent=ada)
        assert (row.runs, row.reserved_tokens, row.reserved_microdollars) == (1, 0, 0)
        release(actor=worker_for(ada), issue=issue)
        assert not Reservation.objects.exists()
        with pytest.raises(Conflict, match="budget of 1 runs this month is used up"):
            check_out(actor=worker_for(ada), issue=issue)
        assert Run.objects.get() == run
        assert InboxItem.objects.filter(kind=InboxKind.BUDGET).exists()

    def test_an_agent_has_so_many_within_an_hour_but_a_person_asks_for_more(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        change_company(actor=owner, company=company, runs_per_hour=1)
        issue = Issue.objects.get(pk=issue.pk)
        for _ in range(2):
            cancel_run(actor=owner, run=check_out(actor=owner, issue=issue, agent=ada))
        with pytest.raises(Conflict, match="1 runs of this agent here within an hour"):
            check_out(actor=worker_for(ada), issue=issue)
        cancel_run(actor=owner, run=check_out(actor=worker_for(bob), issue=issue))
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        assert check_out(actor=worker_for(ada), issue=issue).agent == ada

    def test_an_installation_has_so_many_at_once(
        self, company: Company, ada: Agent, bob: Agent, issue: Issue, settings: Settings
    ) -> None:
        settings.MAX_RUNS = 1
        check_out(actor=worker_for(ada), issue=issue)
        with pytest.raises(Conflict, match="This installation has one run under way, its limit"):
            check_out(actor=worker_for(bob), issue=build.issue(company))

    def test_any_call_keeps_it_alive(self, ada: Agent, issue: Issue) -> None:
        run = check_out(actor=worker_for(ada), issue=issue)
        touch_external(run)
        later = Run.objects.get(pk=run.pk)
        assert later.lease_counter == run.lease_counter + 1
        assert later.deadline_at > run.deadline_at


class TestEnding:
    def test_giving_it_back_consumes_what_was_delivered(self, company: Company, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        run = check_out(actor=worker_for(ada), issue=issue)
        assert release(actor=worker_for(ada), issue=issue).state == RunState.SUCCEEDED
        assert Wakeup.objects.get(run=run).state == WakeupState.CONSUMED
        assert check_out(actor=worker_for(bob), issue=issue).agent == bob

    def test_only_the_holder_gives_it_back(self, ada: Agent, bob: Agent, issue: Issue) -> None:
        check_out(actor=worker_for(ada), issue=issue)
        with pytest.raises(CheckedOut):
            release(actor=worker_for(bob), issue=issue)

    def test_what_nobody_holds_cannot_be_given_back(self, owner: Person, ada: Agent, issue: Issue) -> None:
        for actor in (owner, worker_for(ada)):
            with pytest.raises(Conflict, match="Nobody holds"):
                release(actor=actor, issue=issue)

    def test_a_stranger_is_not_told_whether_it_is_held(self, ada: Agent, issue: Issue) -> None:
        _, stranger = build.company_with_founder("OTHER")
        for _ in range(2):
            with pytest.raises(NotFound):
                release(actor=stranger, issue=issue)
            issue.runs.all().delete()

    def test_a_person_who_breaks_it_cancels_the_run(self, owner: Person, ada: Agent, issue: Issue) -> None:
        run_heartbeat(actor=owner, agent=ada, issue=issue)
        run = check_out(actor=worker_for(ada), issue=issue)
        ended = release(actor=owner, issue=issue)
        assert (ended.pk, ended.state, ended.ended_by) == (run.pk, RunState.CANCELLED, owner.member)
        assert ended.attempt == run.attempt + 1, "a late answer is fenced off"
        assert Wakeup.objects.get().state == WakeupState.CONSUMED
        assert not issue.comments.exists()

    def test_a_run_ends_once(self, owner: Person, ada: Agent, issue: Issue) -> None:
        run = check_out(actor=worker_for(ada), issue=issue)
        cancel_run(actor=owner, run=run)
        with pytest.raises(Conflict, match="it was cancelled"):
            cancel_run(actor=owner, run=run)
        assert Activity.objects.filter(kind="run.ended").count() == 1


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    @pytest.mark.parametrize("_", range(5))
    def test_of_two_claims_one_wins_and_the_other_is_told_of_it(
        self, _: int, ada: Agent, bob: Agent, issue: Issue
    ) -> None:
        outcomes = at_once([partial(check_out, actor=worker_for(agent), issue=issue) for agent in (ada, bob)])
        won = [outcome for outcome in outcomes if isinstance(outcome, Run)]
        [lost] = [outcome for outcome in outcomes if isinstance(outcome, CheckedOut)]
        assert [run.agent.handle for run in won] == [lost.holder]

    def test_of_two_claims_of_the_last_free_place_one_wins(self, company: Company, owner: Person, ada: Agent) -> None:
        edit_agent(actor=owner, agent=ada, max_concurrent_runs=1)
        issues = [build.issue(company) for _ in range(3)]
        outcomes = at_once([partial(check_out, actor=worker_for(ada), issue=issue) for issue in issues])
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Conflict", "Run"]

    @pytest.mark.parametrize("_", range(3))
    def test_of_two_agents_for_the_last_place_of_the_company_one_starts(
        self, _: int, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        change_company(actor=owner, company=company, max_concurrent_runs=1)
        outcomes = at_once(
            [partial(check_out, actor=worker_for(agent), issue=build.issue(company)) for agent in (ada, bob)]
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Run"]

    @pytest.mark.parametrize("_", range(3))
    def test_a_run_that_is_cancelled_and_given_back_ends_once(
        self, _: int, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        run = check_out(actor=worker_for(ada), issue=issue)
        outcomes = at_once(
            [partial(cancel_run, actor=owner, run=run), partial(release, actor=worker_for(ada), issue=issue)]
        )
        assert [isinstance(outcome, Run) for outcome in outcomes].count(True) == 1
        assert Activity.objects.filter(kind="run.ended").count() == 1
