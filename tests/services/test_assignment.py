"""Handing issues to agents, to people and to nobody."""

from __future__ import annotations

import pytest

from agents.models import Agent, WakeupSource
from agents.services.agents import pause_agent, terminate_agent
from issues.actors import Person
from issues.effects import unit
from issues.models import Activity, Company, Issue, Status
from issues.refusals import Invalid, NeedsApproval
from issues.services.companies import remove_member
from issues.services.issues import assign_issue, set_status
from tests import build

pytestmark = pytest.mark.django_db


def sources(agent: Agent, issue: Issue) -> list[str]:
    return [wakeup.source for wakeup in build.pending(agent, issue)]


@pytest.mark.parametrize("status", Status)
def test_an_agent_is_woken_where_there_is_work_to_do(
    status: Status, company: Company, owner: Person, ada: Agent
) -> None:
    issue = build.issue(company, status=status)
    assign_issue(actor=owner, issue=issue, assignee=ada)
    assert sources(ada, issue) == ([WakeupSource.ASSIGNED] if status.is_workable else [])


def test_an_issue_opened_for_an_agent_wakes_it(company: Company, ada: Agent) -> None:
    assert sources(ada, build.issue(company, assignee=ada)) == [WakeupSource.ASSIGNED]


def test_assigning_leaves_one_line_with_before_and_after(
    company: Company, owner: Person, ada: Agent, issue: Issue
) -> None:
    assign_issue(actor=owner, issue=issue, assignee=ada)
    assign_issue(actor=owner, issue=issue, assignee=owner.member)
    assign_issue(actor=owner, issue=issue, assignee=None)
    assert [line.data for line in Activity.objects.filter(kind="issue.assigned").order_by("pk")] == [
        {"from": None, "to": {"agent": ada.pk}},
        {"from": {"agent": ada.pk}, "to": {"member": owner.member.pk}},
        {"from": {"member": owner.member.pk}, "to": None},
    ]


def test_the_same_assignee_again_changes_nothing(company: Company, owner: Person, ada: Agent) -> None:
    issue = build.issue(company, assignee=ada)
    issue.wakeups.all().delete()
    assert assign_issue(actor=owner, issue=issue, assignee=ada).version == issue.version
    assert build.pending(ada) == []


def test_an_issue_has_one_assignee(company: Company, owner: Person, ada: Agent, issue: Issue) -> None:
    assign_issue(actor=owner, issue=issue, assignee=ada)
    held = assign_issue(actor=owner, issue=issue, assignee=owner.member)
    assert (held.assignee_agent, held.assignee_member) == (None, owner.member)


def test_an_agent_that_takes_the_issue_it_works_on_is_not_woken(company: Company, ada: Agent, issue: Issue) -> None:
    assign_issue(actor=build.at_work(ada, issue), issue=issue, assignee=ada)
    assert build.pending(ada) == []


def test_somebody_of_another_company_is_refused(owner: Person, issue: Issue) -> None:
    other, stranger = build.company_with_founder("OTHER")
    for assignee in (stranger.member, build.agent(other)):
        with pytest.raises(Invalid, match="another company"):
            assign_issue(actor=owner, issue=issue, assignee=assignee)


def test_somebody_who_has_left_is_refused(company: Company, owner: Person, ada: Agent, issue: Issue) -> None:
    boss = build.member(company, "boss")
    for gone in (
        remove_member(actor=owner, member=build.member_row(boss)),
        terminate_agent(actor=owner, agent=ada),
    ):
        with pytest.raises(Invalid, match="no longer here"):
            assign_issue(actor=owner, issue=issue, assignee=gone)


class TestTriage:
    def test_an_issue_without_assignee_wakes_the_triage_agent(self, company: Company) -> None:
        tria = build.triage(company)
        assert sources(tria, build.issue(company)) == [WakeupSource.CREATED]

    @pytest.mark.parametrize("status", [status for status in Status if status is not Status.TODO])
    def test_only_todo_does(self, status: Status, company: Company) -> None:
        tria = build.triage(company)
        with unit():  # else a closed issue would be todo for a moment
            issue = build.issue(company, status=status)
        assert sources(tria, issue) == []

    def test_an_issue_that_becomes_todo_or_loses_its_assignee_does_too(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        tria = build.triage(company)
        from_backlog = build.issue(company, status=Status.BACKLOG)
        set_status(actor=owner, issue=from_backlog, status=Status.TODO)
        given_back = build.issue(company, assignee=ada)
        assign_issue(actor=owner, issue=given_back, assignee=None)
        assert sources(tria, from_backlog) == sources(tria, given_back) == [WakeupSource.CREATED]

    def test_an_issue_with_an_assignee_does_not(self, company: Company, owner: Person, ada: Agent) -> None:
        tria = build.triage(company)
        build.issue(company, assignee=ada)
        build.issue(company, assignee=owner.member)
        assert build.pending(tria) == []

    def test_a_paused_triage_agent_is_passed_over(self, company: Company, owner: Person) -> None:
        first, second = build.triage(company, "Tria"), build.triage(company, "Trio")
        pause_agent(actor=owner, agent=first)
        issue = build.issue(company)
        assert (sources(first, issue), sources(second, issue)) == ([], [WakeupSource.CREATED])

    def test_without_a_triage_agent_nobody_is_woken(self, company: Company, ada: Agent, issue: Issue) -> None:
        assert not issue.wakeups.exists()

    def test_the_triage_agent_is_not_woken_by_what_it_gives_back(self, company: Company) -> None:
        tria = build.triage(company)
        issue = build.issue(company)
        worker = build.at_work(tria, issue)
        assign_issue(actor=worker, issue=issue, assignee=tria)
        assign_issue(actor=worker, issue=issue, assignee=None)
        assert sources(tria, issue) == []


def test_an_agent_assigns_only_what_is_near_without_asking(
    company: Company, ada: Agent, bob: Agent, issue: Issue
) -> None:
    worker = build.at_work(ada, build.issue(company, assignee=ada))
    with pytest.raises(NeedsApproval):
        assign_issue(actor=worker, issue=issue, assignee=bob)
