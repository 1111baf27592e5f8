"""The inbox: one's own, without doubles."""

from __future__ import annotations

import pytest

from issues.actors import Person, System
from issues.models import Company, InboxItem, InboxKind, Issue, Role
from issues.refusals import NotFound
from issues.services.companies import remove_member
from issues.services.inbox import archive_item, mark_read, tell, tell_board
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


def test_nobody_touches_the_items_of_others(company: Company, owner: Person, item: InboxItem) -> None:
    others = [build.member(company, role=Role.OWNER), build.company_with_founder("OTHER")[1], System()]
    for actor in others:
        for touch in (mark_read, archive_item):
            with pytest.raises(NotFound):
                touch(actor=actor, item=item)
    item.refresh_from_db()
    assert (item.read_at, item.archived_at) == (None, None)
