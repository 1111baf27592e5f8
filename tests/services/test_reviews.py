"""Reviews: who is called, what verdicts do, and the third time back."""

from __future__ import annotations

import pytest

from agents.models import Agent, WakeupSource
from agents.services.agents import terminate_agent, worker_for
from issues.actors import Person, Worker
from issues.models import Activity, Company, InboxItem, InboxKind, Issue, Member, Reviewer, Role, Status, Verdict
from issues.refusals import Conflict, Forbidden, Invalid
from issues.services.companies import change_role, remove_member
from issues.services.issues import assign_issue, create_issue, set_status
from issues.services.reviews import give_verdict, set_reviewers
from tests import build

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(company: Company) -> Person:
    return build.member(company, "boss")


def in_review(company: Company, assignee: Agent | None, *reviewers: Agent | Person) -> Issue:
    owner = build.owner_of(company)
    issue = build.issue(company, assignee=assignee, status=Status.BACKLOG)
    rows = [one.member if isinstance(one, Person) else one for one in reviewers]
    set_reviewers(actor=owner, issue=issue, reviewers=rows)
    return set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)


def status_of(issue: Issue) -> str:
    return Issue.objects.get(pk=issue.pk).status


def judge(actor: Agent | Person, issue: Issue, verdict: Verdict, note: str = "") -> Issue:
    as_actor = actor if isinstance(actor, Person) else worker_on(actor, issue)
    return give_verdict(actor=as_actor, issue=issue, verdict=verdict, note=note)


def worker_on(agent: Agent, issue: Issue) -> Worker:
    """The agent in a run on the issue, the one it has if there is one."""
    run = issue.runs.live().filter(agent=agent).first()
    return worker_for(agent, run) if run is not None else build.at_work(agent, issue)


class TestCalling:
    def test_agents_are_woken_and_people_told(self, company: Company, ada: Agent, bob: Agent, boss: Person) -> None:
        issue = in_review(company, ada, bob, boss)
        assert [wakeup.source for wakeup in build.pending(bob, issue)] == [WakeupSource.REVIEW_REQUESTED]
        item = InboxItem.objects.get(kind=InboxKind.REVIEW)
        assert (item.member, item.issue) == (boss.member, issue)
        assert build.pending(ada) == []

    def test_without_reviewers_the_responsible_person_is_told(self, company: Company, ada: Agent, boss: Person) -> None:
        issue = build.issue(company, actor=boss, assignee=ada)
        worker = build.at_work(ada, issue)
        set_status(actor=worker, issue=issue, status=Status.IN_REVIEW)
        assert InboxItem.objects.get(kind=InboxKind.REVIEW).member == boss.member

    def test_whoever_puts_it_into_review_is_not_told(self, company: Company, owner: Person) -> None:
        in_review(company, None)
        assert not InboxItem.objects.exists()

    def test_an_issue_opened_in_review_calls_them_too(self, company: Company, owner: Person, boss: Person) -> None:
        create_issue(actor=owner, company=company, title="Look", status=Status.IN_REVIEW, responsible=boss.member)
        assert InboxItem.objects.get(kind=InboxKind.REVIEW).member == boss.member

    def test_the_assignee_does_not_count_as_a_reviewer(
        self, company: Company, owner: Person, ada: Agent, boss: Person
    ) -> None:
        issue = build.issue(company, actor=boss, assignee=ada)
        set_reviewers(actor=owner, issue=issue, reviewers=[ada])
        worker = build.at_work(ada, issue)
        set_status(actor=worker, issue=issue, status=Status.IN_REVIEW)
        assert build.pending(ada) == []
        assert InboxItem.objects.get(kind=InboxKind.REVIEW).member == boss.member

    def test_reviewers_who_have_left_do_not_count(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, boss: Person
    ) -> None:
        issue = in_review(company, ada, bob, boss)
        terminate_agent(actor=owner, agent=bob)
        judge(boss, issue, Verdict.ACCEPT)
        assert status_of(issue) == Status.DONE
        with pytest.raises(Invalid, match="no longer here"):
            set_reviewers(actor=owner, issue=issue, reviewers=[Agent.objects.get(pk=bob.pk)])

    def test_who_is_named_while_it_is_in_review_is_called_then_and_who_is_not_any_more_is_left_alone(
        self, company: Company, ada: Agent, bob: Agent, boss: Person, owner: Person
    ) -> None:
        def asked() -> list[Member]:
            items = InboxItem.objects.filter(kind=InboxKind.REVIEW, archived_at=None).select_related("member")
            return [item.member for item in items.order_by("pk")]

        issue = build.issue(company, actor=boss, assignee=ada)
        set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
        assert asked() == [boss.member], "who answers for it"
        cleo = build.member(company, "cleo")
        set_reviewers(actor=owner, issue=issue, reviewers=[bob, cleo.member])
        assert [wakeup.source for wakeup in build.pending(bob, issue)] == [WakeupSource.REVIEW_REQUESTED]
        assert asked() == [cleo.member]
        judge(bob, issue, Verdict.ACCEPT)
        set_reviewers(actor=owner, issue=issue, reviewers=[bob, boss.member])
        assert asked() == [boss.member]
        assert build.pending(bob, issue) == [], "it has judged"
        set_reviewers(actor=owner, issue=issue, reviewers=[])
        assert asked() == [boss.member], "who answers for it again"

    def test_a_viewer_is_not_named_and_who_becomes_one_does_not_count(
        self, company: Company, owner: Person, ada: Agent, boss: Person
    ) -> None:
        reader = build.member(company, "reader", role=Role.VIEWER)
        issue = in_review(company, ada, boss)
        with pytest.raises(Invalid, match="judges nothing"):
            set_reviewers(actor=owner, issue=issue, reviewers=[reader.member])
        change_role(actor=owner, member=boss.member, role=Role.VIEWER)
        give_verdict(actor=owner, issue=issue, verdict=Verdict.ACCEPT)
        assert status_of(issue) == Status.DONE

    def test_a_reviewer_of_another_company_is_refused(self, owner: Person, issue: Issue) -> None:
        other, stranger = build.company_with_founder("OTHER")
        for one in (stranger.member, build.agent(other)):
            with pytest.raises(Invalid, match="another company"):
                set_reviewers(actor=owner, issue=issue, reviewers=[one])


class TestDone:
    def test_an_agents_done_becomes_in_review_where_reviewers_are_named(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        issue = build.issue(company, assignee=ada)
        set_reviewers(actor=owner, issue=issue, reviewers=[bob])
        worker = build.at_work(ada, issue)
        build.comment(issue, "Finished.", actor=worker)
        assert set_status(actor=worker, issue=issue, status=Status.DONE).status == Status.IN_REVIEW
        assert set_status(actor=worker, issue=issue, status=Status.DONE).status == Status.IN_REVIEW

    def test_an_agents_cancelling_does_not(self, company: Company, owner: Person, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        set_reviewers(actor=owner, issue=issue, reviewers=[bob])
        worker = build.at_work(ada, issue)
        assert set_status(actor=worker, issue=issue, status=Status.CANCELLED).status == Status.CANCELLED

    def test_a_persons_done_is_done(self, company: Company, owner: Person, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        set_reviewers(actor=owner, issue=issue, reviewers=[bob])
        assert set_status(actor=owner, issue=issue, status=Status.DONE).status == Status.DONE


class TestVerdicts:
    def test_the_last_outstanding_accept_sets_done(
        self, company: Company, ada: Agent, bob: Agent, boss: Person
    ) -> None:
        issue = in_review(company, ada, bob, boss)
        judge(bob, issue, Verdict.ACCEPT)
        assert status_of(issue) == Status.IN_REVIEW
        judge(boss, issue, Verdict.ACCEPT)
        assert status_of(issue) == Status.DONE

    def test_the_same_accept_twice_is_not_two(self, company: Company, ada: Agent, bob: Agent, boss: Person) -> None:
        issue = in_review(company, ada, bob, boss)
        for _ in range(2):
            judge(bob, issue, Verdict.ACCEPT)
        assert status_of(issue) == Status.IN_REVIEW

    def test_a_send_back_sets_in_progress_and_wakes_the_assignee(
        self, company: Company, ada: Agent, bob: Agent
    ) -> None:
        issue = in_review(company, ada, bob)
        judge(bob, issue, Verdict.SEND_BACK, "A test is missing.")
        assert status_of(issue) == Status.IN_PROGRESS
        [wakeup] = build.pending(ada, issue)
        assert wakeup.source == WakeupSource.ASSIGNED
        assert "sent your work back" in wakeup.reason

    def test_leaving_review_clears_the_verdicts(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, boss: Person
    ) -> None:
        issue = in_review(company, ada, bob, boss)
        judge(bob, issue, Verdict.ACCEPT, "Fine.")
        set_status(actor=owner, issue=issue, status=Status.IN_PROGRESS)
        assert set(Reviewer.objects.values_list("verdict", "note", "decided_at")) == {("outstanding", "", None)}
        set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
        judge(boss, issue, Verdict.ACCEPT)
        assert status_of(issue) == Status.IN_REVIEW, "the accept of the round before does not count"

    def test_naming_reviewers_anew_keeps_the_verdicts_of_those_who_stay(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, boss: Person
    ) -> None:
        issue = in_review(company, ada, bob, boss)
        judge(bob, issue, Verdict.ACCEPT)
        set_reviewers(actor=owner, issue=issue, reviewers=[bob, owner.member])
        assert Reviewer.objects.get(agent=bob).verdict == Verdict.ACCEPT
        assert not Reviewer.objects.filter(member=boss.member).exists()

    def test_the_third_time_back_stops_and_asks_the_responsible_person(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        issue = in_review(company, ada, bob)
        for wanted in (Status.IN_PROGRESS, Status.IN_PROGRESS, Status.BLOCKED):
            judge(bob, issue, Verdict.SEND_BACK)
            assert status_of(issue) == wanted
            set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
        item = InboxItem.objects.get(kind=InboxKind.STOPPED)
        assert (item.member, item.issue) == (owner.member, issue)

    def test_after_the_third_time_the_counting_begins_anew(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        issue = in_review(company, ada, bob)
        reached = []
        for _ in range(6):
            reached.append(judge(bob, issue, Verdict.SEND_BACK).status)
            set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
        assert reached == [Status.IN_PROGRESS, Status.IN_PROGRESS, Status.BLOCKED] * 2

    def test_the_verdict_is_in_the_activity(self, company: Company, ada: Agent, bob: Agent) -> None:
        judge(bob, in_review(company, ada, bob), Verdict.ACCEPT)
        assert Activity.objects.get(kind="issue.reviewed").data == {"verdict": "accept"}


class TestWhoJudges:
    def test_no_agent_judges_its_own_work(self, company: Company, owner: Person, ada: Agent, bob: Agent) -> None:
        issue = in_review(company, bob, ada)
        assign_issue(actor=owner, issue=issue, assignee=ada)
        with pytest.raises(Forbidden, match="own work"):
            judge(ada, issue, Verdict.ACCEPT)

    def test_an_agent_that_is_no_reviewer_does_not_judge(self, company: Company, ada: Agent, bob: Agent) -> None:
        with pytest.raises(Forbidden, match="named reviewer"):
            judge(bob, in_review(company, ada), Verdict.ACCEPT)

    def test_people_judge_where_nobody_is_named_and_only_the_named_elsewhere(
        self, company: Company, owner: Person, ada: Agent, bob: Agent, boss: Person
    ) -> None:
        judge(owner, issue := in_review(company, ada), Verdict.ACCEPT)
        assert status_of(issue) == Status.DONE
        with pytest.raises(Forbidden, match="named reviewer"):
            judge(owner, in_review(company, ada, boss), Verdict.ACCEPT)

    def test_somebody_removed_judges_nothing(self, company: Company, owner: Person, ada: Agent, boss: Person) -> None:
        issue = in_review(company, ada, boss)
        remove_member(actor=owner, member=build.member_row(boss))
        judge(owner, issue, Verdict.ACCEPT)
        assert status_of(issue) == Status.DONE

    @pytest.mark.parametrize("status", [status for status in Status if status is not Status.IN_REVIEW])
    def test_only_what_is_in_review_is_judged(self, status: Status, company: Company, owner: Person) -> None:
        with pytest.raises(Conflict, match="not in review"):
            judge(owner, build.issue(company, status=status), Verdict.ACCEPT)

    def test_an_agents_accept_does_not_close_over_open_children(self, company: Company, ada: Agent, bob: Agent) -> None:
        issue = in_review(company, ada, bob)
        build.issue(company, parent=issue)
        with pytest.raises(Conflict, match="open child"):
            judge(bob, issue, Verdict.ACCEPT)
        assert status_of(issue) == Status.IN_REVIEW
