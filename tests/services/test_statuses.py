"""Setting a status: any may follow any other, each with its effects."""

from __future__ import annotations

from itertools import permutations

import pytest

from agents.models import Agent, WakeupSource
from issues.actors import Person
from issues.effects import savepoint, unit
from issues.models import Activity, ApprovalStatus, Company, InboxItem, InboxKind, Issue, Status
from issues.refusals import Conflict, Forbidden
from issues.services.approvals import ask_question, propose_action, request_approval
from issues.services.files import write_file
from issues.services.findings import record_finding
from issues.services.issues import assign_issue, set_status
from tests import build

pytestmark = pytest.mark.django_db


def in_status(company: Company, status: Status, assignee: Agent | None = None) -> Issue:
    """An issue that a person brought there; its wakeups are forgotten."""
    owner = build.owner_of(company)
    issue = build.issue(company, status=Status.BACKLOG, assignee=assignee)
    issue = set_status(actor=owner, issue=issue, status=status)
    issue.wakeups.all().delete()
    return issue


@pytest.mark.parametrize(("before", "after"), list(permutations(Status, 2)))
def test_any_status_may_follow_any_other(
    before: Status, after: Status, company: Company, owner: Person, ada: Agent
) -> None:
    issue = in_status(company, before, ada)
    set_status(actor=owner, issue=issue, status=after)
    issue = Issue.objects.get(pk=issue.pk)
    assert issue.status == after
    assert (issue.closed_at is not None) == after.is_closed
    line = Activity.objects.filter(issue=issue, kind="issue.status").latest("pk")
    assert line.data == {"from": before, "to": after}
    sources = [wakeup.source for wakeup in build.pending(ada, issue)]
    assert sources == ([WakeupSource.ASSIGNED] if after.is_workable else [])


@pytest.mark.parametrize("status", Status)
def test_the_same_status_again_changes_nothing(status: Status, company: Company, owner: Person, ada: Agent) -> None:
    issue = in_status(company, status, ada)
    again = set_status(actor=owner, issue=issue, status=status)
    assert again.version == issue.version
    assert Activity.objects.filter(issue=issue, kind="issue.status").count() == (status is not Status.BACKLOG)
    assert build.pending(ada) == []


def test_a_new_issue_is_todo(company: Company) -> None:
    assert build.issue(company).status == Status.TODO


def test_work_starts_once_however_often_it_is_taken_up(company: Company, owner: Person) -> None:
    issue = in_status(company, Status.IN_PROGRESS)
    began = issue.started_at
    assert began is not None
    for status in (Status.TODO, Status.IN_PROGRESS, Status.DONE, Status.IN_PROGRESS):
        issue = set_status(actor=owner, issue=issue, status=status)
    assert issue.started_at == began


def test_an_issue_opened_in_progress_has_started_and_one_in_todo_has_not(company: Company) -> None:
    assert build.issue(company, status=Status.IN_PROGRESS).started_at is not None
    assert build.issue(company).started_at is None


def test_leaving_a_closed_status_clears_when_it_was_closed(company: Company, owner: Person) -> None:
    issue = in_status(company, Status.DONE)
    assert issue.closed_at is not None
    assert set_status(actor=owner, issue=issue, status=Status.TODO).closed_at is None


class TestWaking:
    def test_an_issue_that_moved_on_in_the_same_transaction_wakes_nobody(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        issue = in_status(company, Status.BACKLOG, ada)
        with unit():
            issue = set_status(actor=owner, issue=issue, status=Status.TODO)
            set_status(actor=owner, issue=issue, status=Status.BACKLOG)
        assert build.pending(ada) == []

    def test_an_issue_moved_and_reassigned_at_once_wakes_only_its_last_assignee_once(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        issue = in_status(company, Status.BACKLOG)
        with unit():
            issue = set_status(actor=owner, issue=issue, status=Status.TODO)
            issue = assign_issue(actor=owner, issue=issue, assignee=ada)
            issue = set_status(actor=owner, issue=issue, status=Status.IN_PROGRESS)
            assign_issue(actor=owner, issue=issue, assignee=bob)
        assert build.pending(ada) == []
        assert [wakeup.joined for wakeup in build.pending(bob)] == [0]

    @pytest.mark.parametrize("before", [Status.BACKLOG, Status.TODO])
    def test_a_part_that_fails_takes_its_wakeup_along(
        self, before: Status, company: Company, owner: Person, ada: Agent
    ) -> None:
        issue = in_status(company, before, ada)

        def fail() -> None:
            with savepoint():
                set_status(actor=owner, issue=issue, status=Status.IN_PROGRESS)
                raise Conflict("No.")

        with unit(), pytest.raises(Conflict):
            fail()
        assert Issue.objects.get(pk=issue.pk).status == before
        assert build.pending(ada) == []

    def test_an_agent_is_not_woken_by_its_own_move_of_the_issue_it_works_on(self, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        set_status(actor=build.at_work(ada, issue), issue=issue, status=Status.IN_PROGRESS)
        assert build.pending(ada) == []

    def test_an_agent_is_woken_by_its_own_move_of_another_issue(self, company: Company, ada: Agent) -> None:
        other = in_status(company, Status.BACKLOG, ada)
        set_status(actor=build.at_work(ada, build.issue(company, assignee=ada)), issue=other, status=Status.TODO)
        assert [wakeup.source for wakeup in build.pending(ada)] == [WakeupSource.ASSIGNED]

    def test_an_agent_that_moves_a_child_wakes_whoever_has_it(self, company: Company, ada: Agent, bob: Agent) -> None:
        parent = build.issue(company, assignee=ada)
        child = build.issue(company, parent=parent, assignee=bob, status=Status.BACKLOG)
        set_status(actor=build.at_work(ada, parent), issue=child, status=Status.TODO)
        assert [wakeup.by_agent for wakeup in build.pending(bob, child)] == [ada]


class TestClosingByAnAgent:
    def test_done_without_a_word_is_refused(self, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        with pytest.raises(Forbidden, match="what was done"):
            set_status(actor=build.at_work(ada, issue), issue=issue, status=Status.DONE)

    @pytest.mark.parametrize("evidence", ["comment", "finding", "file"])
    def test_done_with_a_comment_a_finding_or_a_file_is_done(self, evidence: str, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        worker = build.at_work(ada, issue)
        match evidence:
            case "comment":
                build.comment(issue, "I did it.", actor=worker)
            case "finding":
                record_finding(actor=worker, issue=issue, body="It was easy.")
            case "file":
                write_file(actor=worker, issue=issue, path="result.txt", text="42")
        assert set_status(actor=worker, issue=issue, status=Status.DONE).status == Status.DONE

    def test_what_others_said_is_no_word_of_its_own(self, company: Company, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        build.comment(issue, "Go on.")
        build.comment(issue, "Me too.", actor=build.at_work(bob, build.issue(company)))
        with pytest.raises(Forbidden, match="what was done"):
            set_status(actor=build.at_work(ada, issue), issue=issue, status=Status.DONE)

    def test_cancelling_needs_no_word(self, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        cancelled = set_status(actor=build.at_work(ada, issue), issue=issue, status=Status.CANCELLED)
        assert cancelled.status == Status.CANCELLED

    @pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
    def test_open_children_bar_it_and_closed_ones_do_not(
        self, status: Status, company: Company, owner: Person, ada: Agent
    ) -> None:
        issue = build.issue(company, assignee=ada)
        child = build.issue(company, parent=issue)
        worker = build.at_work(ada, issue)
        build.comment(issue, actor=worker)
        with pytest.raises(Conflict, match="open child"):
            set_status(actor=worker, issue=issue, status=status)
        set_status(actor=owner, issue=child, status=Status.CANCELLED)
        assert set_status(actor=worker, issue=issue, status=status).status == status

    @pytest.mark.parametrize("asked", ["request", "question"])
    def test_a_waiting_request_or_question_bars_it(self, asked: str, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        worker = build.at_work(ada, issue)
        build.comment(issue, actor=worker)
        if asked == "request":
            request_approval(actor=worker, issue=issue, title="May I?")
        else:
            ask_question(actor=worker, issue=issue, question="Which?")
        with pytest.raises(Conflict, match="still waits"):
            set_status(actor=worker, issue=issue, status=Status.DONE)

    def test_an_action_that_waits_for_the_board_does_not_bar_it(self, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        worker = build.at_work(ada, issue)
        build.comment(issue, actor=worker)
        propose_action(actor=worker, issue=issue, title="/install-skill", payload={"verb": "x"}, explanation="")
        assert set_status(actor=worker, issue=issue, status=Status.DONE).status == Status.DONE


class TestClosingByAPerson:
    def test_people_close_over_open_children_and_without_a_word(self, company: Company, owner: Person) -> None:
        issue = build.issue(company)
        build.issue(company, parent=issue)
        assert set_status(actor=owner, issue=issue, status=Status.DONE).status == Status.DONE

    @pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
    def test_what_waits_for_an_answer_is_cancelled(
        self, status: Status, company: Company, owner: Person, ada: Agent
    ) -> None:
        issue = build.issue(company, assignee=ada)
        worker = build.at_work(ada, issue)
        asked = [
            request_approval(actor=worker, issue=issue, title="May I?"),
            ask_question(actor=worker, issue=issue, question="Which?"),
            propose_action(actor=worker, issue=issue, title="/x", payload={"verb": "x"}, explanation=""),
        ]
        set_status(actor=owner, issue=issue, status=status)
        for approval in asked:
            approval.refresh_from_db()
            assert approval.status == ApprovalStatus.CANCELLED
            assert approval.decided_by == owner.member
        assert not InboxItem.objects.filter(approval__in=asked, archived_at=None).exists()
        assert build.pending(ada) == []


class TestBlockedByHand:
    def test_an_agent_that_blocks_without_naming_a_blocker_is_told_of(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        issue = build.issue(company, assignee=ada)
        set_status(actor=build.at_work(ada, issue), issue=issue, status=Status.BLOCKED)
        assert InboxItem.objects.get(member=owner.member).kind == InboxKind.BLOCKED

    def test_a_person_who_does_so_is_told_nothing(self, company: Company, owner: Person) -> None:
        set_status(actor=owner, issue=build.issue(company), status=Status.BLOCKED)
        assert not InboxItem.objects.exists()
