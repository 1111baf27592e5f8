"""Parents and children: where an issue hangs, and what the last child that closes does."""

from __future__ import annotations

from functools import partial

import pytest

from agents.models import Agent, WakeupSource
from issues.actors import Person
from issues.models import Company, Issue, Status
from issues.refusals import Invalid
from issues.services.companies import remove_member
from issues.services.issues import set_parent, set_status
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


class TestClosing:
    @pytest.mark.parametrize("closed", [Status.DONE, Status.CANCELLED])
    def test_the_last_child_that_closes_wakes_the_parents_agent(
        self, closed: Status, company: Company, owner: Person, ada: Agent
    ) -> None:
        parent = build.issue(company, assignee=ada, status=Status.BACKLOG)
        first, last = (build.issue(company, parent=parent) for _ in range(2))
        set_status(actor=owner, issue=first, status=Status.DONE)
        assert build.pending(ada) == []
        set_status(actor=owner, issue=last, status=closed)
        [wakeup] = build.pending(ada, parent)
        assert (wakeup.source, wakeup.subject_issue) == (WakeupSource.CHILD_CLOSED, last)

    def test_closing_a_closed_child_another_way_wakes_nobody(self, company: Company, owner: Person, ada: Agent) -> None:
        parent = build.issue(company, assignee=ada, status=Status.BACKLOG)
        child = build.issue(company, parent=parent, status=Status.DONE)
        parent.wakeups.all().delete()
        set_status(actor=owner, issue=child, status=Status.CANCELLED)
        assert build.pending(ada) == []

    def test_a_closed_parent_is_left_alone(self, company: Company, owner: Person, ada: Agent) -> None:
        parent = build.issue(company, assignee=ada, status=Status.BACKLOG)
        child = build.issue(company, parent=parent)
        set_status(actor=owner, issue=parent, status=Status.DONE)
        set_status(actor=owner, issue=child, status=Status.DONE)
        assert build.pending(ada) == []

    def test_a_parent_of_nobody_or_of_a_person_wakes_nobody(self, company: Company, owner: Person, ada: Agent) -> None:
        for assignee in (None, owner.member):
            parent = build.issue(company, assignee=assignee, status=Status.BACKLOG)
            set_status(actor=owner, issue=build.issue(company, parent=parent), status=Status.DONE)
            assert not parent.wakeups.exists()

    def test_a_grandchild_tells_its_own_parent_only(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        top = build.issue(company, assignee=ada, status=Status.BACKLOG)
        middle = build.issue(company, assignee=bob, parent=top, status=Status.BACKLOG)
        set_status(actor=owner, issue=build.issue(company, parent=middle), status=Status.DONE)
        assert build.pending(ada) == []
        assert [wakeup.source for wakeup in build.pending(bob)] == [WakeupSource.CHILD_CLOSED]


class TestHanging:
    def test_an_issue_cannot_hang_under_itself(self, owner: Person, issue: Issue) -> None:
        with pytest.raises(Invalid, match="under itself"):
            set_parent(actor=owner, issue=issue, parent=issue)

    @pytest.mark.parametrize("length", [2, 3, 7])
    def test_a_ring_of_any_length_is_refused(self, length: int, company: Company, owner: Person) -> None:
        line = [build.issue(company)]
        for _ in range(length - 1):
            line.append(build.issue(company, parent=line[-1]))
        with pytest.raises(Invalid, match="under itself"):
            set_parent(actor=owner, issue=line[0], parent=line[-1])

    def test_an_issue_can_be_hung_elsewhere_and_taken_to_the_top(self, company: Company, owner: Person) -> None:
        first, second = build.issue(company), build.issue(company)
        child = build.issue(company, parent=first)
        assert set_parent(actor=owner, issue=child, parent=second).parent == second
        assert set_parent(actor=owner, issue=child, parent=None).parent is None

    def test_a_parent_of_another_company_is_refused(self, company: Company, owner: Person, issue: Issue) -> None:
        foreign = build.issue(build.company_with_founder("OTHER")[0])
        with pytest.raises(Invalid, match="another company"):
            set_parent(actor=owner, issue=issue, parent=foreign)


class TestResponsibility:
    def test_whoever_opens_an_issue_answers_for_it(self, company: Company) -> None:
        boss = build.member(company, "boss")
        assert build.issue(company, actor=boss).responsible == boss.member

    def test_an_agents_child_inherits_its_parents_responsible_person(self, company: Company, ada: Agent) -> None:
        boss = build.member(company, "boss")
        home = build.issue(company, actor=boss, assignee=ada)
        worker = build.at_work(ada, home)
        assert build.issue(company, actor=worker, parent=home).responsible == boss.member
        assert build.issue(company, actor=worker).responsible == boss.member, "of a top-level issue: the run's issue"

    def test_an_owner_answers_for_what_somebody_removed_would(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        boss = build.member(company, "boss")
        home = build.issue(company, actor=boss, assignee=ada)
        remove_member(actor=owner, member=build.member_row(boss))
        home = Issue.objects.get(pk=home.pk)
        worker = build.at_work(ada, home, by=owner)
        assert build.issue(company, actor=worker, parent=home).responsible == owner.member


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    @pytest.mark.parametrize("_", range(3))
    def test_of_two_children_that_close_at_once_the_later_wakes_the_parents_agent(
        self, _: int, company: Company, owner: Person, ada: Agent
    ) -> None:
        parent = build.issue(company, assignee=ada, status=Status.BACKLOG)
        children = [build.issue(company, parent=parent) for _ in range(2)]
        at_once([partial(set_status, actor=owner, issue=child, status=Status.DONE) for child in children])
        assert [wakeup.source for wakeup in build.pending(ada, parent)] == [WakeupSource.CHILD_CLOSED]

    def test_two_moves_at_once_close_no_ring(self, company: Company, owner: Person) -> None:
        hang = partial(set_parent, actor=owner)
        for _ in range(15):
            one, other = build.issue(company), build.issue(company)
            outcomes = at_once([partial(hang, issue=one, parent=other), partial(hang, issue=other, parent=one)])
            assert [isinstance(outcome, Invalid) for outcome in outcomes].count(True) == 1
