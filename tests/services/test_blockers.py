"""What an issue waits for: adding blockers, how they end, and rings."""

from __future__ import annotations

from functools import partial

import pytest

from agents.models import Agent, WakeupSource
from issues.actors import Person
from issues.effects import unit
from issues.models import Activity, ActorKind, Blocker, Company, Issue, Status
from issues.refusals import Conflict, Invalid
from issues.services.blockers import add_blockers, remove_blockers
from issues.services.issues import assign_issue, create_issue, delete_issue, set_status
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db

BLOCKABLE = (Status.TODO, Status.IN_PROGRESS, Status.IN_REVIEW)


def status_of(issue: Issue) -> str:
    return Issue.objects.get(pk=issue.pk).status


def waiting(company: Company, *blockers: Issue, assignee: Agent | None = None) -> Issue:
    """An issue that waits for these."""
    issue = create_issue(
        actor=build.owner_of(company), company=company, title="Waits", assignee=assignee, blockers=blockers
    )
    assert issue.status == Status.BLOCKED
    return issue


class TestAdding:
    @pytest.mark.parametrize("status", Status)
    def test_an_open_blocker_blocks_what_is_under_way(self, status: Status, company: Company, owner: Person) -> None:
        issue = build.issue(company, status=status)
        add_blockers(actor=owner, issue=issue, blockers=[build.issue(company)])
        assert status_of(issue) == (Status.BLOCKED if status in BLOCKABLE else status)

    @pytest.mark.parametrize("closed", [Status.DONE, Status.CANCELLED])
    def test_a_closed_blocker_blocks_nothing(
        self, closed: Status, company: Company, owner: Person, issue: Issue
    ) -> None:
        add_blockers(actor=owner, issue=issue, blockers=[build.issue(company, status=closed)])
        assert status_of(issue) == Status.TODO

    def test_an_issue_opened_with_an_open_blocker_is_blocked_and_wakes_nobody(
        self, company: Company, ada: Agent
    ) -> None:
        issue = waiting(company, build.issue(company), assignee=ada)
        assert build.pending(ada, issue) == []

    def test_the_same_blocker_again_changes_nothing(self, company: Company, owner: Person, issue: Issue) -> None:
        blocker = build.issue(company)
        add_blockers(actor=owner, issue=issue, blockers=[blocker, blocker])
        add_blockers(actor=owner, issue=issue, blockers=[blocker])
        assert Blocker.objects.count() == 1
        assert Activity.objects.filter(kind="issue.blockers").count() == 1

    def test_what_closed_meanwhile_blocks_nothing(self, company: Company, owner: Person, issue: Issue) -> None:
        blocker = build.issue(company)
        set_status(actor=owner, issue=blocker, status=Status.DONE)
        assert not blocker.is_closed, "the caller's copy is old"
        add_blockers(actor=owner, issue=issue, blockers=[blocker])
        assert status_of(issue) == Status.TODO

    def test_an_issue_of_another_company_is_refused(self, owner: Person, issue: Issue) -> None:
        other, _ = build.company_with_founder("OTHER")
        with pytest.raises(Invalid, match="another company"):
            add_blockers(actor=owner, issue=issue, blockers=[build.issue(other)])


class TestRings:
    def test_an_issue_cannot_wait_for_itself(self, owner: Person, issue: Issue) -> None:
        with pytest.raises(Invalid, match="itself"):
            add_blockers(actor=owner, issue=issue, blockers=[issue])

    @pytest.mark.parametrize("length", [2, 3, 7])
    def test_a_ring_of_any_length_is_refused(self, length: int, company: Company, owner: Person) -> None:
        chain = [build.issue(company) for _ in range(length)]
        for issue, blocker in zip(chain, chain[1:], strict=False):
            add_blockers(actor=owner, issue=issue, blockers=[blocker])
        with pytest.raises(Invalid, match="already waits"):
            add_blockers(actor=owner, issue=chain[-1], blockers=[chain[0]])

    def test_two_ways_to_one_blocker_are_no_ring(self, company: Company, owner: Person) -> None:
        top, left, right, bottom = (build.issue(company) for _ in range(4))
        add_blockers(actor=owner, issue=top, blockers=[left, right])
        add_blockers(actor=owner, issue=left, blockers=[bottom])
        add_blockers(actor=owner, issue=right, blockers=[bottom])
        assert Blocker.objects.count() == 4

    def test_a_refused_ring_leaves_the_other_blockers_out_too(self, company: Company, owner: Person) -> None:
        first, second = build.issue(company), build.issue(company)
        add_blockers(actor=owner, issue=first, blockers=[second])
        with pytest.raises(Invalid):
            add_blockers(actor=owner, issue=second, blockers=[build.issue(company), first])
        assert Blocker.objects.count() == 1


class TestEnding:
    @pytest.mark.parametrize("closed", [Status.DONE, Status.CANCELLED])
    def test_the_last_blocker_that_closes_releases_the_issue_and_wakes_its_agent(
        self, closed: Status, company: Company, owner: Person, ada: Agent
    ) -> None:
        first, last = build.issue(company), build.issue(company)
        issue = waiting(company, first, last, assignee=ada)
        set_status(actor=owner, issue=first, status=Status.DONE)
        assert status_of(issue) == Status.BLOCKED
        assert build.pending(ada) == []
        set_status(actor=owner, issue=last, status=closed)
        assert status_of(issue) == Status.TODO
        [wakeup] = build.pending(ada, issue)
        assert (wakeup.source, wakeup.subject_issue) == (WakeupSource.BLOCKER_RESOLVED, last)

    @pytest.mark.parametrize("closed", [Status.DONE, Status.CANCELLED])
    def test_the_activity_is_the_systems_and_names_the_blocker(
        self, closed: Status, company: Company, owner: Person
    ) -> None:
        blocker = build.issue(company)
        issue = waiting(company, blocker)
        set_status(actor=owner, issue=blocker, status=closed)
        line = Activity.objects.filter(issue=issue, kind="issue.status").latest("pk")
        assert line.actor_kind == ActorKind.SYSTEM
        assert line.data == {
            "from": "blocked",
            "to": "todo",
            "blocker": blocker.pk,
            "blocker_status": closed,
        }

    def test_a_blocker_that_is_taken_away_releases_the_issue(self, company: Company, owner: Person, ada: Agent) -> None:
        blocker = build.issue(company)
        issue = waiting(company, blocker, assignee=ada)
        assert remove_blockers(actor=owner, issue=issue, blockers=[blocker]).status == Status.TODO
        assert [wakeup.source for wakeup in build.pending(ada)] == [WakeupSource.BLOCKER_RESOLVED]

    def test_the_blocker_named_is_one_that_was_still_open(self, company: Company, owner: Person, ada: Agent) -> None:
        still_open, closed = build.issue(company), build.issue(company)
        issue = waiting(company, still_open, closed, assignee=ada)
        set_status(actor=owner, issue=closed, status=Status.DONE)
        remove_blockers(actor=owner, issue=issue, blockers=[still_open, closed])
        assert [wakeup.subject_issue for wakeup in build.pending(ada)] == [still_open]

    def test_a_blocker_that_is_deleted_releases_the_issue(self, company: Company, owner: Person, ada: Agent) -> None:
        blocker = build.issue(company)
        issue = waiting(company, blocker, assignee=ada)
        delete_issue(actor=owner, issue=blocker)
        assert status_of(issue) == Status.TODO
        [wakeup] = build.pending(ada)
        assert (wakeup.source, wakeup.subject_issue) == (WakeupSource.BLOCKER_RESOLVED, None)

    def test_another_open_blocker_still_holds_it(self, company: Company, owner: Person) -> None:
        first, second = build.issue(company), build.issue(company)
        issue = waiting(company, first, second)
        assert remove_blockers(actor=owner, issue=issue, blockers=[first]).status == Status.BLOCKED
        delete_issue(actor=owner, issue=second)
        assert status_of(issue) == Status.TODO

    def test_one_blocker_releases_all_that_wait_for_it(self, company: Company, owner: Person) -> None:
        blocker = build.issue(company)
        issues = [waiting(company, blocker) for _ in range(3)]
        set_status(actor=owner, issue=blocker, status=Status.DONE)
        assert {status_of(issue) for issue in issues} == {Status.TODO}

    def test_a_blocker_that_is_opened_again_holds_nothing(self, company: Company, owner: Person) -> None:
        blocker = build.issue(company)
        issue = waiting(company, blocker)
        blocker = set_status(actor=owner, issue=blocker, status=Status.DONE)
        set_status(actor=owner, issue=blocker, status=Status.TODO)
        assert status_of(issue) == Status.TODO

    def test_backlog_is_never_moved_by_blockers(self, company: Company, owner: Person, ada: Agent) -> None:
        blocker = build.issue(company)
        issue = build.issue(company, status=Status.BACKLOG, assignee=ada)
        add_blockers(actor=owner, issue=issue, blockers=[blocker])
        set_status(actor=owner, issue=blocker, status=Status.DONE)
        assert status_of(issue) == Status.BACKLOG
        assert build.pending(ada) == []

    def test_a_block_without_blockers_is_left_alone(self, company: Company, owner: Person) -> None:
        issue = build.issue(company, status=Status.BLOCKED)
        blocker = build.issue(company, status=Status.DONE)
        add_blockers(actor=owner, issue=issue, blockers=[blocker])
        remove_blockers(actor=owner, issue=issue, blockers=[blocker])
        assert status_of(issue) == Status.BLOCKED
        add_blockers(actor=owner, issue=issue, blockers=[blocker])
        delete_issue(actor=owner, issue=blocker)
        assert status_of(issue) == Status.BLOCKED

    def test_an_agent_that_frees_the_issue_it_works_on_is_not_woken(self, company: Company, ada: Agent) -> None:
        blocker = build.issue(company)
        issue = waiting(company, blocker, assignee=ada)
        remove_blockers(actor=build.at_work(ada, issue), issue=issue, blockers=[blocker])
        assert status_of(issue) == Status.TODO
        assert build.pending(ada) == []

    def test_release_outranks_assignment_in_the_same_transaction(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        blocker = build.issue(company)
        issue = waiting(company, blocker)
        with unit():
            set_status(actor=owner, issue=blocker, status=Status.DONE)
            assign_issue(actor=owner, issue=issue, assignee=ada)
        assert [wakeup.source for wakeup in build.pending(ada)] == [WakeupSource.BLOCKER_RESOLVED]


def test_an_issue_that_an_agent_works_on_is_not_deleted(company: Company, owner: Person, ada: Agent) -> None:
    issue = build.issue(company, assignee=ada)
    build.at_work(ada, issue)
    with pytest.raises(Conflict, match="at work"):
        delete_issue(actor=owner, issue=issue)


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    @pytest.mark.parametrize("_", range(3))
    def test_of_two_blockers_that_close_at_once_the_later_releases_the_issue(
        self, _: int, company: Company, owner: Person, ada: Agent
    ) -> None:
        blockers = [build.issue(company), build.issue(company)]
        issue = waiting(company, *blockers, assignee=ada)
        close = partial(set_status, actor=owner, status=Status.DONE)
        closed = at_once([partial(close, issue=blocker) for blocker in blockers])
        assert [blocker.status for blocker in closed if isinstance(blocker, Issue)] == [Status.DONE] * 2
        assert status_of(issue) == Status.TODO
        assert len(build.pending(ada, issue)) == 1

    @pytest.mark.parametrize("_", range(3))
    def test_a_blocker_that_closes_while_it_is_linked_holds_nothing_for_ever(
        self, _: int, company: Company, owner: Person, issue: Issue
    ) -> None:
        blocker = build.issue(company)
        at_once(
            [
                partial(set_status, actor=owner, issue=blocker, status=Status.DONE),
                partial(add_blockers, actor=owner, issue=issue, blockers=[blocker]),
            ]
        )
        assert status_of(issue) == Status.TODO

    def test_two_links_at_once_close_no_ring(self, company: Company, owner: Person) -> None:
        link = partial(add_blockers, actor=owner)
        for _ in range(15):
            one, other = build.issue(company), build.issue(company)
            steps = [partial(link, issue=one, blockers=[other]), partial(link, issue=other, blockers=[one])]
            assert [isinstance(outcome, Invalid) for outcome in at_once(steps)].count(True) == 1

    def test_transactions_that_wait_for_each_other_all_come_through(self, company: Company, owner: Person) -> None:
        """PostgreSQL ends one of those that wait in a circle, and its service begins anew."""
        issues = [build.issue(company) for _ in range(5)]
        add_blockers(actor=owner, issue=issues[0], blockers=issues[1:])
        add_blockers(actor=owner, issue=issues[1], blockers=issues[2:])
        steps = [partial(set_status, actor=owner, issue=one, status=Status.DONE) for one in issues]
        outcomes = at_once(steps)
        assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
        assert not Issue.objects.filter(status=Status.BLOCKED).exists()
