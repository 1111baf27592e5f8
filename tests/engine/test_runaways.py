"""Agents that wake one another for ever come to rest, the board is told, and a person's word lets them go on."""

from __future__ import annotations

import pytest

from agents.models import Run, RunState, Wakeup, WakeupState
from issues.actors import Person
from issues.models import Activity, Company, InboxItem, InboxKind, Issue, Status
from issues.services.companies import change_company
from tests import build
from tests.engine.running import run_all, scripted
from tests.engine.test_claiming import quiet_issue

pytestmark = pytest.mark.django_db(transaction=True)


def refused() -> list[str]:
    """Why wakeups were refused."""
    wakeups = Wakeup.objects.filter(state=WakeupState.REFUSED).order_by("pk")
    return list(wakeups.values_list("ended_because", flat=True))


def board_was_told(owner: Person) -> bool:
    return InboxItem.objects.filter(member=owner.member, kind=InboxKind.STOPPED).exists()


def test_two_agents_that_mention_each_other_come_to_rest(company: Company, owner: Person) -> None:
    scripted(company, "Ada", "Over to you, @bob.")
    scripted(company, "Bob", "And back to you, @ada.")
    issue = quiet_issue(company)
    build.comment(issue, "@ada, please begin.", actor=owner)
    runs = run_all()
    assert [run.agent.handle for run in runs] == ["ada", "bob", "ada", "bob", "ada"]
    assert "2 times in one chain" in refused()[-1]
    assert board_was_told(owner)
    assert Activity.objects.filter(issue=issue, kind="guard.stopped").exists()
    build.comment(issue, "@ada, once more.", actor=owner)
    assert run_all()


def test_a_ring_of_three_comes_to_rest(company: Company, owner: Person) -> None:
    for name, following in (("Ada", "bob"), ("Bob", "carl"), ("Carl", "ada")):
        scripted(company, name, f"Please see to it, @{following}.")
    build.comment(quiet_issue(company), "@ada, please begin.", actor=owner)
    assert len(run_all()) <= company.hop_limit + 1
    assert refused()
    assert board_was_told(owner)


def test_thanks_for_thanks_end_at_the_hop_limit_wherever_they_are_said(company: Company, owner: Person) -> None:
    company = change_company(actor=owner, company=company, hop_limit=3)
    first, second = quiet_issue(company), quiet_issue(company)
    for name, other, place in (("Ada", "bob", second), ("Bob", "ada", first)):
        scripted(company, name, f"/comment-on {place.identifier}\n```\nThank you, @{other}!\n```")
    build.comment(first, "@ada, please begin.", actor=owner)
    assert len(run_all()) <= 4
    assert refused()


def test_an_issue_that_makes_its_like_for_ever_stops(company: Company, owner: Person) -> None:
    reply = "More of the same.\n/create-issue The next one\n```\nassignee: @ada\n---\nGo on.\n```"
    ada = scripted(company, "Ada", reply)
    build.issue(company, "The first one", assignee=ada)
    runs = run_all(most=30)
    assert max(run.depth for run in runs) == company.hop_limit
    assert len(runs) == company.hop_limit + 1
    assert "woken one another" in refused()[-1]
    assert board_was_told(owner)
    last = Issue.objects.latest("pk")
    build.comment(last, "Go on.", actor=owner)
    assert run_all(most=30)[0].issue == last


def test_an_agent_that_does_nothing_runs_once_and_then_lies_still(company: Company) -> None:
    ada = scripted(company, "Ada", "I thought about it.")
    build.issue(company, assignee=ada)
    assert [run.state for run in run_all()] == [RunState.SUCCEEDED]


def test_blockers_released_in_a_long_line_are_no_runaway(company: Company, owner: Person) -> None:
    """`blocker_resolved` keeps the depth of the run that caused it."""
    ada = scripted(company, "Ada", "Done.\n/status done")
    before: Issue | None = None
    for number in range(company.hop_limit + 4):
        blockers = [before] if before is not None else []
        before = build.issue(company, f"Step {number}", assignee=ada, blockers=blockers)
    runs = run_all(most=30)
    assert len(runs) == company.hop_limit + 4
    assert not Issue.objects.exclude(status=Status.DONE).exists()
    assert {run.depth for run in Run.objects.all()} == {0}
    assert not refused()
