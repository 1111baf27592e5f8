"""What starts, what waits and says why, and in which order."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent, Run, RunState, Wakeup, WakeupState
from agents.services.agents import edit_agent, pause_agent, resume_agent
from agents.services.runs import RATE_WINDOW
from agents.services.wakeups import run_heartbeat
from engine import claim as claim_module
from engine.claim import claim, claim_next
from engine.gate import Opening
from engine.heartbeat import heartbeat
from engine.preparing import prepare
from engine.text.prompt import HeartbeatPrompt
from issues.actors import SYSTEM, Person
from issues.effects import Wake, unit, wake
from issues.models import Company, Issue, Priority, Status
from issues.services.companies import change_company, pause_company
from issues.services.issues import set_status
from issues.sources import WakeupSource
from tests import build
from tests.engine.running import FakeModel, run_all, run_next

pytestmark = pytest.mark.django_db(transaction=True)


def mention(agent: Agent, issue: Issue, times: int = 1) -> None:
    """Wake the agent there by the system, which is no person, with the same subject each time."""
    for _ in range(times):
        with unit():
            wake(Wake(agent_id=agent.pk, issue=issue, source=WakeupSource.MENTION, actor=SYSTEM, reason="Look."))


def quiet_issue(company: Company, **fields: object) -> Issue:
    """An issue in the backlog, which wakes nobody."""
    return build.issue(company, status=Status.BACKLOG, **fields)


def claimed_order() -> list[str]:
    """Titles of the issues in the order in which they are claimed."""
    titles = []
    while (run := claim_next()) is not None:
        assert run.issue is not None
        titles.append(run.issue.title)
    return titles


class TestJoining:
    def test_fifty_equal_wakeups_before_the_claim_make_one_run(self, company: Company, ada: Agent) -> None:
        mention(ada, quiet_issue(company), times=50)
        (run,) = run_all()
        (wakeup,) = Wakeup.objects.all()
        assert (wakeup.run, wakeup.joined, wakeup.state) == (run, 49, WakeupState.CONSUMED)

    def test_fifty_different_wakeups_make_one_run_that_delivers_them_all(
        self, company: Company, ada: Agent, owner: Person
    ) -> None:
        issue = quiet_issue(company)
        for number in range(50):
            build.comment(issue, f"@ada, number {number}", actor=owner)
        (run,) = run_all()
        assert run.wakeups.filter(state=WakeupState.CONSUMED).count() == 50

    def test_fifty_wakeups_after_the_prompt_was_built_make_one_more_run(
        self, company: Company, ada: Agent, model: FakeModel
    ) -> None:
        issue = quiet_issue(company)
        mention(ada, issue)
        model.meanwhile = lambda: mention(ada, issue, times=50)
        first, second = run_all()
        assert [wakeup.run for wakeup in Wakeup.objects.order_by("pk")] == [first, second]

    def test_a_wakeup_between_claim_and_prompt_is_taken_in(
        self, company: Company, ada: Agent, owner: Person, model: FakeModel
    ) -> None:
        issue = quiet_issue(company)
        mention(ada, issue)
        run = claim_next()
        assert run is not None
        build.comment(issue, "@ada, one word more", actor=owner)
        heartbeat(run)
        assert claim_next() is None
        assert "one word more" in model.requests[0].messages[0].text
        assert run.wakeups.filter(state=WakeupState.CONSUMED).count() == 2

    def test_a_persons_wakeup_that_is_taken_in_sets_the_depth_of_the_run_back(
        self, company: Company, ada: Agent, bob: Agent, owner: Person, model: FakeModel
    ) -> None:
        issue, elsewhere = quiet_issue(company), quiet_issue(company)
        worker = build.at_work(bob, elsewhere, by=build.member(company))
        build.comment(issue, "@ada, look at this.", actor=worker)
        run = claim_next()
        assert run is not None
        assert run.depth == 1
        build.comment(issue, "@ada, one word more", actor=owner)
        heartbeat(run)
        run.refresh_from_db()
        asked = Wakeup.objects.get(run=run, member=owner.member)
        assert (run.depth, run.chain, run.chain_member) == (0, asked.pk, owner.member)

    def test_a_wakeup_that_is_not_due_goes_along_with_one_that_is(self, company: Company, ada: Agent) -> None:
        issue = quiet_issue(company)
        mention(ada, issue)
        Wakeup.objects.update(due_at=timezone.now() + datetime.timedelta(hours=1))
        assert claim_next() is None
        build.comment(issue, "@ada")
        run = claim_next()
        assert run is not None
        assert run.wakeups.count() == 2


class TestOrder:
    def test_a_persons_wakeup_goes_before_more_urgent_work(self, company: Company, ada: Agent) -> None:
        urgent = quiet_issue(company, title="urgent", priority=Priority.URGENT)
        asked = quiet_issue(company, title="asked")
        edit_agent(actor=build.owner_of(company), agent=ada, max_concurrent_runs=5)
        mention(ada, urgent)
        build.comment(asked, "@ada")
        assert claimed_order() == ["asked", "urgent"]

    def test_then_the_priority_counts_and_then_the_age(self, company: Company, ada: Agent) -> None:
        edit_agent(actor=build.owner_of(company), agent=ada, max_concurrent_runs=9)
        for title, priority in (("a", Priority.NONE), ("b", Priority.LOW), ("c", Priority.NONE), ("d", Priority.HIGH)):
            mention(ada, quiet_issue(company, title=title, priority=priority))
        assert claimed_order() == ["d", "b", "a", "c"]

    def test_a_company_with_much_to_do_does_not_starve_another(self, company: Company, ada: Agent) -> None:
        edit_agent(actor=build.owner_of(company), agent=ada, max_concurrent_runs=9)
        for number in range(4):
            mention(ada, quiet_issue(company, title=f"big {number}", priority=Priority.URGENT))
        small, _ = build.company_with_founder("TINY")
        mention(build.agent(small, "Sam", provider="scripted"), quiet_issue(small, title="small"))
        assert claimed_order()[:2] == ["big 0", "small"]

    def test_what_cannot_start_does_not_hold_up_what_can(self, company: Company, ada: Agent) -> None:
        outside = build.agent(company, "Out", adapter="external")
        for _ in range(60):
            mention(outside, quiet_issue(company, priority=Priority.URGENT))
        mention(ada, quiet_issue(company))
        runs = [claim_next(), claim_next()]
        assert [run.agent for run in runs if run is not None] == [ada]

    def test_one_over_which_claiming_breaks_down_waits_and_holds_up_nobody(
        self, company: Company, ada: Agent, bob: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mention(ada, quiet_issue(company, title="Broken", priority=Priority.URGENT))
        mention(bob, quiet_issue(company, title="Whole"))
        whole = claim_module.open_route

        def broken(agent: Agent, now: datetime.datetime) -> Opening:
            if agent == ada:
                raise ValueError("a bug, with a key in it")
            return whole(agent, now)

        monkeypatch.setattr(claim_module, "open_route", broken)
        assert claimed_order() == ["Whole"]
        wakeup = Wakeup.objects.get(agent=ada)
        assert wakeup.state == WakeupState.PENDING
        assert wakeup.due_at > timezone.now()
        assert wakeup.waiting_because == "It could not be started (ValueError); the worker's log says more."


class TestLimits:
    def test_an_agent_has_one_run_at_a_time_unless_it_may_have_more(
        self, company: Company, ada: Agent, owner: Person
    ) -> None:
        for _ in range(3):
            mention(ada, quiet_issue(company))
        assert len(claimed_order()) == 1
        edit_agent(actor=owner, agent=ada, max_concurrent_runs=2)
        assert len(claimed_order()) == 1

    def test_a_company_has_no_more_runs_than_it_allows(self, company: Company, owner: Person) -> None:
        change_company(actor=owner, company=company, max_concurrent_runs=2)
        for name in ("Ada", "Bob", "Carl"):
            mention(build.agent(company, name, provider="scripted"), quiet_issue(company))
        assert len(claimed_order()) == 2

    def test_an_issue_has_one_run_and_who_waits_is_told_of_the_holder(
        self, company: Company, ada: Agent, bob: Agent
    ) -> None:
        issue = quiet_issue(company)
        mention(ada, issue)
        mention(bob, issue)
        run = claim_next()
        assert run is not None
        assert claim_next() is None
        other = bob if run.agent == ada else ada
        assert claim(other.pk, issue.pk) is None
        assert Wakeup.objects.get(agent=other).waiting_because == f"@{run.agent.handle} holds the issue."

    def test_a_paused_agent_starts_nothing_and_what_is_pending_waits(
        self, company: Company, ada: Agent, owner: Person
    ) -> None:
        mention(ada, quiet_issue(company))
        pause_agent(actor=owner, agent=ada)
        assert run_all() == []
        resume_agent(actor=owner, agent=ada)
        assert len(run_all()) == 1

    def test_pausing_between_look_and_claim_is_seen_under_the_lock(
        self, company: Company, ada: Agent, owner: Person
    ) -> None:
        issue = quiet_issue(company)
        mention(ada, issue)
        pause_agent(actor=owner, agent=ada)
        assert claim(ada.pk, issue.pk) is None
        assert Wakeup.objects.get().waiting_because == "@ada is paused."

    def test_a_paused_company_starts_nothing(self, company: Company, ada: Agent, owner: Person) -> None:
        issue = quiet_issue(company)
        mention(ada, issue)
        pause_company(actor=owner, company=company)
        assert claim_next() is None
        assert claim(ada.pk, issue.pk) is None
        assert Wakeup.objects.get().waiting_because == "The company is paused."

    def test_over_the_rate_a_wakeup_waits_until_the_oldest_run_is_an_hour_old(
        self, company: Company, ada: Agent, owner: Person
    ) -> None:
        change_company(actor=owner, company=company, runs_per_hour=2)
        issue = quiet_issue(company)
        for _ in range(3):
            mention(ada, issue)
            run_all()
        first, _second = Run.objects.order_by("pk")
        wakeup = Wakeup.objects.get(state=WakeupState.PENDING)
        assert wakeup.due_at == first.created_at + RATE_WINDOW
        assert wakeup.waiting_because == "2 runs of this agent here within an hour, the limit."

    def test_a_person_is_exempt_from_the_rate(self, company: Company, ada: Agent, owner: Person) -> None:
        change_company(actor=owner, company=company, runs_per_hour=1)
        issue = quiet_issue(company)
        for _ in range(3):
            run_heartbeat(actor=owner, agent=ada, issue=issue)
            run_all()
        assert Run.objects.count() == 3

    def test_without_a_provider_a_wakeup_waits_and_says_so(self, company: Company, owner: Person) -> None:
        eva = build.agent(company, "Eva", provider="openai")
        mention(eva, quiet_issue(company))
        before = timezone.now()
        assert claim_next() is None
        wakeup = Wakeup.objects.get()
        assert (wakeup.state, wakeup.waiting_because) == (WakeupState.PENDING, "OPENAI_API_KEY is not set.")
        assert wakeup.due_at > before
        edit_agent(actor=owner, agent=eva, provider="scripted", script="- reply: Noted.")
        build.comment(wakeup.issue, "@eva")
        assert run_next().wakeups.count() == 2


def test_a_run_continues_the_chain_of_the_wakeup_that_a_person_caused(
    company: Company, ada: Agent, owner: Person
) -> None:
    issue = quiet_issue(company)
    mention(ada, issue)
    Wakeup.objects.update(depth=5)
    build.comment(issue, "@ada", actor=owner)
    run = claim_next()
    assert run is not None
    assert (run.depth, run.chain_member) == (0, build.member_row(owner))


def test_a_run_without_a_person_has_the_depth_of_its_deepest_wakeup(company: Company, ada: Agent) -> None:
    issue = quiet_issue(company)
    for depth in (1, 4, 2):
        with unit():
            wake(
                Wake(
                    agent_id=ada.pk,
                    issue=issue,
                    source=WakeupSource.MENTION,
                    actor=SYSTEM,
                    reason="Look.",
                    subject=str(depth),
                )
            )
        Wakeup.objects.filter(key__endswith=f":{depth}").update(depth=depth)
    run = claim_next()
    assert run is not None
    assert run.depth == 4


def test_a_wakeup_is_claimed_with_its_run_and_shows_no_reason_for_waiting(company: Company, ada: Agent) -> None:
    mention(ada, quiet_issue(company))
    Wakeup.objects.update(waiting_because="@bob holds the issue.")
    run = claim_next()
    wakeup = Wakeup.objects.get()
    assert (wakeup.state, wakeup.run, wakeup.waiting_because) == (WakeupState.CLAIMED, run, "")
    assert run is not None
    assert run.state == RunState.RUNNING


def test_what_did_not_fit_the_prompt_is_pending_again(
    company: Company, ada: Agent, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue = quiet_issue(company)
    build.comment(issue, "@ada, the first", actor=owner)
    build.comment(issue, "@ada, the second", actor=owner)
    first, second = Wakeup.objects.order_by("pk")
    run = claim_next()
    assert run is not None
    from dataclasses import replace

    from engine import preparing

    whole = preparing.build_heartbeat_prompt

    def cut(*args: Any, **named: Any) -> HeartbeatPrompt:
        return replace(whole(*args, **named), delivered=(first.pk,))

    monkeypatch.setattr(preparing, "build_heartbeat_prompt", cut)
    prepare(run)
    second.refresh_from_db()
    assert (second.state, second.run) == (WakeupState.PENDING, None)
    assert run.wakeups.get() == first


def test_an_issue_closed_by_its_agent_stays_open_to_what_people_ask(
    company: Company, ada: Agent, owner: Person
) -> None:
    issue = build.issue(company, assignee=ada, status=Status.DONE)
    run_heartbeat(actor=owner, agent=ada, issue=issue)
    set_status(actor=owner, issue=issue, status=Status.CANCELLED)
    assert len(run_all()) == 1
