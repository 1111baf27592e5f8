"""Wakeups that time has overtaken, row by row: they end without a run, and say why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agents.models import Agent, Wakeup, WakeupState
from engine.claim import claim_next
from issues.actors import SYSTEM, Actor, Person
from issues.effects import Wake, unit, wake
from issues.models import Company, Issue, Status
from issues.services.issues import assign_issue, create_issue, set_status
from issues.services.reviews import set_reviewers
from issues.sources import WakeupSource
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

S = WakeupSource
WORKABLE = (S.ASSIGNED, S.SCHEDULE, S.ROUTINE, S.CONTINUE)
ASSIGNEES = (*WORKABLE, S.COMMENTED, S.BLOCKER_RESOLVED, S.CHILD_CLOSED)
NEVER_STALE = (S.MENTION, S.MANUAL)


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    """Ada's issue, in todo."""
    issue = build.issue(company, assignee=ada)
    Wakeup.objects.all().delete()
    return issue


def wake_for(source: WakeupSource, agent: Agent, issue: Issue, actor: Actor = SYSTEM) -> None:
    with unit():
        wake(Wake(agent_id=agent.pk, issue=issue, source=source, actor=actor, reason="Look."))


def fate(source: WakeupSource, agent: Agent) -> tuple[str, str]:
    """Claim, and tell what became of the agent's wakeup of that source."""
    claim_next()
    wakeup = Wakeup.objects.get(source=source, agent=agent)
    return wakeup.state, wakeup.ended_because


def close(owner: Person, issue: Issue) -> None:
    set_status(actor=owner, issue=issue, status=Status.CANCELLED)


def close_by_trimus(owner: Person, issue: Issue) -> None:
    set_status(actor=SYSTEM, issue=issue, status=Status.CANCELLED)


def hold(owner: Person, issue: Issue) -> None:
    set_status(actor=owner, issue=issue, status=Status.BACKLOG)


def hand_to_nobody(owner: Person, issue: Issue) -> None:
    assign_issue(actor=owner, issue=issue, assignee=None)


Change = Callable[[Person, Issue], None]


@pytest.mark.parametrize("source", ASSIGNEES)
def test_it_stands_while_nothing_changes(source: WakeupSource, issue: Issue, ada: Agent) -> None:
    wake_for(source, ada, issue)
    assert fate(source, ada) == (WakeupState.CLAIMED, "")


@pytest.mark.parametrize("source", WORKABLE)
def test_work_that_was_put_off_starts_nothing(source: WakeupSource, issue: Issue, ada: Agent, owner: Person) -> None:
    wake_for(source, ada, issue)
    hold(owner, issue)
    assert fate(source, ada) == (WakeupState.STALE, "The issue is backlog by now.")


@pytest.mark.parametrize("source", sorted(set(ASSIGNEES) - set(WORKABLE)))
def test_what_is_not_about_work_stands_on_an_issue_put_off(
    source: WakeupSource, issue: Issue, ada: Agent, owner: Person
) -> None:
    wake_for(source, ada, issue)
    hold(owner, issue)
    assert fate(source, ada) == (WakeupState.CLAIMED, "")


@pytest.mark.parametrize("source", ASSIGNEES)
@pytest.mark.parametrize("change", [close, hand_to_nobody])
def test_what_is_for_the_assignee_ends_when_a_person_closes_or_reassigns(
    source: WakeupSource, change: Change, issue: Issue, ada: Agent, owner: Person
) -> None:
    wake_for(source, ada, issue)
    change(owner, issue)
    state, reason = fate(source, ada)
    assert state == WakeupState.STALE
    assert reason


@pytest.mark.parametrize("source", sorted(set(ASSIGNEES) - set(WORKABLE)))
def test_it_stands_when_no_person_closed_the_issue(
    source: WakeupSource, issue: Issue, ada: Agent, owner: Person
) -> None:
    wake_for(source, ada, issue)
    close_by_trimus(owner, issue)
    assert fate(source, ada) == (WakeupState.CLAIMED, "")


@pytest.mark.parametrize("source", NEVER_STALE)
@pytest.mark.parametrize("change", [close, close_by_trimus, hold, hand_to_nobody])
def test_mentions_and_what_a_person_asked_for_always_stand(
    source: WakeupSource, change: Change, issue: Issue, ada: Agent, owner: Person
) -> None:
    wake_for(source, ada, issue, actor=owner)
    change(owner, issue)
    assert fate(source, ada) == (WakeupState.CLAIMED, "")


def test_a_decision_reaches_who_asked_wherever_the_issue_went(issue: Issue, ada: Agent, owner: Person) -> None:
    wake_for(S.APPROVAL_DECIDED, ada, issue, actor=owner)
    hand_to_nobody(owner, issue)
    assert fate(S.APPROVAL_DECIDED, ada) == (WakeupState.CLAIMED, "")


def test_triage_is_not_called_any_more_once_the_issue_has_an_assignee(
    company: Company, ada: Agent, owner: Person
) -> None:
    tria = build.triage(company, provider="scripted")
    issue = create_issue(actor=owner, company=company, title="New")
    assign_issue(actor=owner, issue=issue, assignee=build.member_row(owner))
    assert fate(S.CREATED, tria) == (WakeupState.STALE, "The issue has an assignee by now.")


def test_triage_is_not_called_for_what_a_person_closed(company: Company, owner: Person) -> None:
    tria = build.triage(company, provider="scripted")
    close(owner, create_issue(actor=owner, company=company, title="New"))
    assert fate(S.CREATED, tria) == (WakeupState.STALE, "A person closed the issue.")


def test_a_reviewer_is_called_while_its_verdict_is_outstanding(issue: Issue, bob: Agent, owner: Person) -> None:
    set_reviewers(actor=owner, issue=issue, reviewers=[bob])
    set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
    assert fate(S.REVIEW_REQUESTED, bob) == (WakeupState.CLAIMED, "")


def test_a_reviewer_is_not_called_for_an_issue_that_left_review(issue: Issue, bob: Agent, owner: Person) -> None:
    set_reviewers(actor=owner, issue=issue, reviewers=[bob])
    set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
    set_status(actor=owner, issue=issue, status=Status.BLOCKED)
    assert fate(S.REVIEW_REQUESTED, bob) == (WakeupState.STALE, "No verdict of this agent is outstanding.")


def test_a_stale_wakeup_does_not_keep_a_living_one_from_its_run(issue: Issue, ada: Agent, owner: Person) -> None:
    wake_for(S.ASSIGNED, ada, issue)
    wake_for(S.MENTION, ada, issue)
    hold(owner, issue)
    run = claim_next()
    assert run is not None
    assert [wakeup.source for wakeup in run.wakeups.all()] == [S.MENTION]
    assert Wakeup.objects.get(source=S.ASSIGNED).state == WakeupState.STALE
