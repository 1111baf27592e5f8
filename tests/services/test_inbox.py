"""The inbox: one's own, without doubles."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
import time_machine
from django.utils import timezone

from agents.models import Agent
from agents.services.wakeups import ask_for_heartbeat
from issues.actors import Person, System
from issues.effects import quietly
from issues.models import ApprovalStatus, Company, InboxItem, InboxKind, Issue, Role, Status, Verdict
from issues.refusals import Conflict, Invalid, NotFound
from issues.services.approvals import decide_approval
from issues.services.companies import remove_member
from issues.services.inbox import archive_item, archive_read, bring_back, mark_read, snooze_item, tell, tell_board
from issues.services.issues import set_status
from issues.services.reviews import give_verdict, set_reviewers
from tests import build

pytestmark = pytest.mark.django_db


@pytest.fixture
def item(owner: Person, issue: Issue) -> InboxItem:
    tell([build.member_row(owner)], InboxKind.BLOCKED, "Look.", company=issue.company, issue=issue)
    return InboxItem.objects.get()


def test_an_equal_unread_item_is_not_doubled(owner: Person, issue: Issue, item: InboxItem) -> None:
    again = [build.member_row(owner)]
    tell(again * 2, InboxKind.BLOCKED, "Look.", company=issue.company, issue=issue)
    assert InboxItem.objects.count() == 1
    mark_read(actor=owner, item=item)
    tell(again, InboxKind.BLOCKED, "Look.", company=issue.company, issue=issue)
    assert InboxItem.objects.count() == 2


def test_another_kind_text_or_issue_is_another_item(owner: Person, issue: Issue, item: InboxItem) -> None:
    whom = [build.member_row(owner)]
    tell(whom, InboxKind.STOPPED, "Look.", company=issue.company, issue=issue)
    tell(whom, InboxKind.BLOCKED, "Look here.", company=issue.company, issue=issue)
    tell(whom, InboxKind.BLOCKED, "Look.", company=issue.company, issue=build.issue(issue.company))
    tell(whom, InboxKind.BLOCKED, "Look.", company=issue.company)
    assert InboxItem.objects.count() == 5


def test_the_board_is_its_owners_and_board_members_who_are_still_there(company: Company, owner: Person) -> None:
    boss = build.member(company, "boss", role=Role.BOARD)
    build.member(company, "viewer", role=Role.VIEWER)
    remove_member(actor=owner, member=build.member_row(build.member(company, "gone", role=Role.OWNER)))
    tell_board(InboxKind.STOPPED, "x" * 600, company=company)
    assert {told.member for told in InboxItem.objects.all()} == {owner.member, boss.member}
    assert {len(told.text) for told in InboxItem.objects.all()} == {500}


def test_reading_and_archiving_keep_when_they_were_first_done(owner: Person, item: InboxItem) -> None:
    read = mark_read(actor=owner, item=item).read_at
    archived = archive_item(actor=owner, item=item)
    assert (archived.read_at, archived.archived_at is None) == (read, False)
    assert archive_item(actor=owner, item=archived).archived_at == archived.archived_at


def test_archiving_counts_as_reading(owner: Person, item: InboxItem) -> None:
    assert archive_item(actor=owner, item=item).read_at is not None


def test_a_snoozed_item_is_out_of_sight_until_its_time_and_then_unread(owner: Person, item: InboxItem) -> None:
    mark_read(actor=owner, item=item)
    until = timezone.now() + timedelta(hours=3)
    snooze_item(actor=owner, item=item, until=until)
    assert (list(InboxItem.objects.standing()), list(InboxItem.objects.snoozed())) == ([], [item])
    with time_machine.travel(until, tick=False):
        assert (list(InboxItem.objects.standing()), list(InboxItem.objects.snoozed())) == ([item], [])
        assert InboxItem.objects.get().read_at is None


def test_what_is_snoozed_lies_in_the_future_and_is_not_archived(owner: Person, item: InboxItem) -> None:
    with pytest.raises(Invalid, match="passed"):
        snooze_item(actor=owner, item=item, until=timezone.now())
    archive_item(actor=owner, item=item)
    with pytest.raises(Conflict, match="archived"):
        snooze_item(actor=owner, item=item, until=timezone.now() + timedelta(hours=1))


def test_snoozed_and_archived_items_can_be_brought_back(owner: Person, item: InboxItem) -> None:
    for away in (archive_item, partial(snooze_item, until=timezone.now() + timedelta(hours=1))):
        away(actor=owner, item=item)
        assert not InboxItem.objects.standing().exists()
        item = bring_back(actor=owner, item=item)
        assert InboxItem.objects.standing().get() == item


def test_what_was_decided_meanwhile_does_not_come_back(owner: Person, ada: Agent, issue: Issue) -> None:
    approval = build.approval(issue, actor=build.at_work(ada, issue))
    item = InboxItem.objects.get(approval=approval)
    decide_approval(actor=owner, approval=approval, status=ApprovalStatus.APPROVED)
    item.refresh_from_db()
    with pytest.raises(Conflict, match="decided meanwhile"):
        bring_back(actor=owner, item=item)


def test_archiving_what_is_read_leaves_what_is_unread_or_wanted(owner: Person, company: Company) -> None:
    me = [build.member_row(owner)]
    for kind in (InboxKind.ANSWER, InboxKind.MENTION, InboxKind.REVIEW):
        tell(me, kind, "Look.", company=company)
    for item in InboxItem.objects.exclude(kind=InboxKind.MENTION):
        mark_read(actor=owner, item=item)
    assert archive_read(actor=owner, company=company) == 1
    assert set(InboxItem.objects.standing().values_list("kind", flat=True)) == {InboxKind.MENTION, InboxKind.REVIEW}


class TestWhatIsWantedNoMore:
    """It leaves the inbox by itself: nobody is asked for what was done."""

    @staticmethod
    def wanted(issue: Issue) -> set[str]:
        return set(InboxItem.objects.filter(issue=issue).standing().wanting().values_list("kind", flat=True))

    def test_a_review_once_the_issue_leaves_it(self, owner: Person, ada: Agent, issue: Issue) -> None:
        set_status(actor=build.at_work(ada, issue), issue=issue, status=Status.IN_REVIEW)
        assert self.wanted(issue) == {InboxKind.REVIEW}
        set_status(actor=owner, issue=issue, status=Status.TODO)
        assert self.wanted(issue) == set()

    def test_a_reviewers_own_once_they_judged(self, company: Company, owner: Person, issue: Issue) -> None:
        first, second = build.member(company, "first"), build.member(company, "second")
        set_reviewers(actor=owner, issue=issue, reviewers=[build.member_row(first), build.member_row(second)])
        set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
        give_verdict(actor=first, issue=issue, verdict=Verdict.ACCEPT)
        assert [item.member for item in InboxItem.objects.standing().wanting()] == [second.member]

    @pytest.mark.parametrize("kind", [InboxKind.BLOCKED, InboxKind.STOPPED])
    def test_what_lies_still_once_a_person_says_how_it_goes_on(
        self, owner: Person, ada: Agent, issue: Issue, kind: InboxKind
    ) -> None:
        acts: list[Callable[[], object]] = [
            lambda: build.comment(issue, "Like so.", actor=owner),
            lambda: set_status(actor=owner, issue=issue, status=Status.IN_PROGRESS),
            lambda: ask_for_heartbeat(actor=owner, agent=ada, issue=issue),
        ]
        for act in acts:
            tell([build.member_row(owner)], kind, "Say how it goes on.", company=issue.company, issue=issue)
            assert self.wanted(issue) == {kind}
            act()
            assert self.wanted(issue) == set()

    def test_but_not_by_what_agents_do(self, owner: Person, ada: Agent, issue: Issue) -> None:
        tell([build.member_row(owner)], InboxKind.STOPPED, "Say.", company=issue.company, issue=issue)
        worker = build.at_work(ada, issue)
        build.comment(issue, "Hm.", actor=worker)
        set_status(actor=worker, issue=issue, status=Status.IN_PROGRESS)
        assert self.wanted(issue) == {InboxKind.STOPPED}

    def test_and_of_that_issue_alone(self, company: Company, owner: Person, issue: Issue) -> None:
        other = build.issue(company)
        tell([build.member_row(owner)], InboxKind.STOPPED, "Say.", company=company, issue=other)
        build.comment(issue, actor=owner)
        assert self.wanted(other) == {InboxKind.STOPPED}


def test_nobody_touches_the_items_of_others(company: Company, owner: Person, item: InboxItem) -> None:
    others = [build.member(company, role=Role.OWNER), build.company_with_founder("OTHER")[1], System()]
    for actor in others:
        later = partial(snooze_item, until=timezone.now() + timedelta(hours=1))
        for touch in (mark_read, archive_item, bring_back, later):
            with pytest.raises(NotFound):
                touch(actor=actor, item=item)
    item.refresh_from_db()
    assert (item.read_at, item.archived_at) == (None, None)


def test_nothing_comes_into_an_inbox_for_what_happened_elsewhere_long_ago(company: Company, issue: Issue) -> None:
    build.member(company, "octavia")
    with quietly(telling=False):
        build.comment(issue, "@octavia, look.")
    assert not InboxItem.objects.exists()
    with quietly():
        build.comment(issue, "@octavia, look.")
    assert InboxItem.objects.exists()
