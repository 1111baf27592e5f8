"""Claims at the same moment: one winner each, whatever the database."""

from __future__ import annotations

from functools import partial

import pytest

from agents.models import Agent, Run, Wakeup, WakeupState
from agents.models.run import LIVE
from agents.services.agents import edit_agent, pause_agent, worker_for
from agents.services.runs import CheckedOut, cancel_run, check_out
from agents.services.wakeups import run_heartbeat
from engine.claim import claim, claim_next
from engine.heartbeat import heartbeat
from issues.actors import Person
from issues.models import Company, Issue, Status
from issues.services.companies import change_company
from tests import build
from tests.engine.running import FakeModel
from tests.engine.test_claiming import mention, quiet_issue
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 50


@pytest.fixture
def roomy(company: Company, ada: Agent, bob: Agent, owner: Person) -> Company:
    """A company whose agents may have as many runs as a test makes."""
    company = change_company(actor=owner, company=company, max_concurrent_runs=10 * ROUNDS, runs_per_hour=10 * ROUNDS)
    for agent in (ada, bob):
        edit_agent(actor=owner, agent=agent, max_concurrent_runs=100)
    return company


def test_two_claims_of_one_issue_have_one_winner_each_time(roomy: Company, ada: Agent, bob: Agent) -> None:
    for _ in range(ROUNDS):
        issue = quiet_issue(roomy)
        mention(ada, issue)
        mention(bob, issue)
        runs = at_once([partial(claim, ada.pk, issue.pk), partial(claim, bob.pk, issue.pk)])
        assert sorted(isinstance(run, Run) for run in runs) == [False, True], runs
        assert None in runs, runs
        Run.objects.filter(issue=issue).delete()


def test_two_claims_of_the_same_pair_have_one_winner_each_time(roomy: Company, ada: Agent) -> None:
    for _ in range(ROUNDS):
        issue = quiet_issue(roomy)
        mention(ada, issue)
        runs = at_once([partial(claim, ada.pk, issue.pk)] * 2)
        assert sorted(isinstance(run, Run) for run in runs) == [False, True], runs
        assert Wakeup.objects.get(issue=issue).state == WakeupState.CLAIMED
        Run.objects.filter(issue=issue).delete()


def test_an_agent_of_one_run_at_a_time_gets_one_of_two_issues(company: Company, ada: Agent) -> None:
    for _ in range(10):
        issues = [quiet_issue(company), quiet_issue(company)]
        for issue in issues:
            mention(ada, issue)
        at_once([partial(claim, ada.pk, issue.pk) for issue in issues])
        assert ada.runs.live().count() == 1
        Run.objects.all().delete()
        Wakeup.objects.all().delete()


def test_a_company_is_never_over_its_limit(company: Company, owner: Person) -> None:
    change_company(actor=owner, company=company, max_concurrent_runs=3)
    pairs = []
    for number in range(8):
        agent, issue = build.agent(company, f"Agent{number}", provider="scripted"), quiet_issue(company)
        mention(agent, issue)
        pairs.append((agent.pk, issue.pk))
    at_once([partial(claim, *pair) for pair in pairs])
    assert company.runs.live().count() == 3
    at_once([claim_next] * 4)
    assert company.runs.live().count() == 3


def test_claimers_that_look_at_once_take_different_pairs(roomy: Company, ada: Agent) -> None:
    for _ in range(8):
        mention(ada, quiet_issue(roomy))
    runs: list[object] = []
    for _ in range(8):  # one may find that another was faster each time, and then has to look once more
        runs += [run for run in at_once([claim_next] * 4) if isinstance(run, Run)]
    assert len(runs) == len({run.issue_id for run in runs if isinstance(run, Run)}) == 8


def test_a_checkout_by_key_and_a_claim_have_one_winner(roomy: Company, ada: Agent, bob: Agent) -> None:
    for _ in range(10):
        issue = quiet_issue(roomy)
        mention(bob, issue)
        taken, claimed = at_once(
            [partial(check_out, actor=worker_for(ada), issue=issue), partial(claim, bob.pk, issue.pk)]
        )
        assert isinstance(taken, Run) != isinstance(claimed, Run), (taken, claimed)
        assert isinstance(taken, (Run, CheckedOut))
        Run.objects.all().delete()


def test_a_pause_and_a_claim_leave_no_run_that_began_later(company: Company, ada: Agent, owner: Person) -> None:
    for _ in range(10):
        issue = quiet_issue(company)
        mention(ada, issue)
        at_once([partial(claim, ada.pk, issue.pk), partial(pause_agent, actor=owner, agent=ada)])
        assert claim(ada.pk, issue.pk) is None
        Run.objects.all().delete()
        Wakeup.objects.all().delete()
        Agent.objects.update(status="active")


def test_wakeups_written_and_claimed_at_once_are_each_delivered_once(roomy: Company, ada: Agent) -> None:
    issue = quiet_issue(roomy)

    def claim_and_finish() -> None:
        run = claim(ada.pk, issue.pk)
        if run is not None:
            heartbeat(run)

    for _ in range(10):
        results = at_once([partial(mention, ada, issue)] * 3 + [claim_and_finish] * 2)
        assert results == [None] * 5
    while (run := claim_next()) is not None:
        heartbeat(run)
    assert set(Wakeup.objects.values_list("state", flat=True)) == {WakeupState.CONSUMED}
    assert Wakeup.objects.count() + sum(Wakeup.objects.values_list("joined", flat=True)) == 30
    assert not Run.objects.filter(state__in=LIVE).exists()


def test_replies_that_wake_one_another_while_others_claim_do_not_fail(
    roomy: Company, ada: Agent, bob: Agent, owner: Person, model: FakeModel
) -> None:
    """Claims hold the company before wakeups; so do replies that open issues, which number them there."""
    model.answers = ["For you both, @ada and @bob.\n/create-issue One part\n/priority high"]
    issues = [build.issue(roomy, assignee=agent, status=Status.BACKLOG) for agent in (ada, bob) * 3]
    for issue in issues:
        assert issue.assignee_agent is not None
        run_heartbeat(actor=owner, agent=issue.assignee_agent, issue=issue)

    def work() -> None:
        for _ in range(3):
            run = claim_next()
            if run is not None:
                heartbeat(run)

    assert at_once([work] * 4) == [None] * 4
    assert not Run.objects.exclude(state="succeeded").exists()
    assert Issue.objects.filter(title="One part").count() == Run.objects.count() >= len(issues)


def test_a_cancel_and_the_end_of_a_run_have_one_winner(
    roomy: Company, ada: Agent, owner: Person, model: FakeModel
) -> None:
    for _ in range(10):
        issue = quiet_issue(roomy)
        mention(ada, issue)
        run = claim(ada.pk, issue.pk)
        assert run is not None
        at_once([partial(heartbeat, run), partial(cancel_run, actor=owner, run=Run.objects.get(pk=run.pk))])
        run.refresh_from_db()
        assert run.state in ("succeeded", "cancelled")
        assert issue.comments.count() == (run.state == "succeeded")
        assert Wakeup.objects.get(issue=issue).state == WakeupState.CONSUMED
