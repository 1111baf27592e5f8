"""Telling people."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils import timezone

from issues.actors import Actor, Person
from issues.effects import is_telling, service
from issues.models import Approval, Comment, Company, InboxItem, InboxKind, Issue, Member, Role
from issues.policies import require_belonging
from issues.refusals import Conflict, Forbidden, Invalid, NotFound


def tell(
    members: Iterable[Member],
    kind: InboxKind,
    text: str,
    *,
    company: Company,
    issue: Issue | None = None,
    approval: Approval | None = None,
    comment: Comment | None = None,
) -> None:
    """Put one item into each member's inbox, inside the caller's transaction. An equal unread one is not doubled."""
    text = text[:500]
    members = dict.fromkeys(members)
    if not members:
        return
    standing = set(
        InboxItem.objects.filter(
            company=company,
            kind=kind,
            issue=issue,
            approval=approval,
            comment=comment,
            text=text,
            read_at=None,
            archived_at=None,
        ).values_list("member_id", flat=True)
    )
    new = [member for member in members if member.pk not in standing]
    put(new, kind, text, company=company, issue=issue, approval=approval, comment=comment)


def put(
    members: Iterable[Member],
    kind: InboxKind,
    text: str,
    *,
    company: Company,
    issue: Issue | None = None,
    approval: Approval | None = None,
    comment: Comment | None = None,
) -> None:
    """The same where the caller knows that none of them has an equal item."""
    if not is_telling():
        return
    InboxItem.objects.bulk_create(
        InboxItem(
            company=company,
            member=member,
            kind=kind,
            issue=issue,
            approval=approval,
            comment=comment,
            text=text,
        )
        for member in members
    )


def tell_board(
    kind: InboxKind,
    text: str,
    *,
    company: Company,
    issue: Issue | None = None,
    approval: Approval | None = None,
) -> None:
    """The same for every owner and board member."""
    tell(company.members.deciding(), kind, text, company=company, issue=issue, approval=approval)


def tell_responsible(kind: InboxKind, text: str, *, issue: Issue, approval: Approval | None = None) -> None:
    """The same for whoever answers for the issue now."""
    tell([answering_for(issue)], kind, text, company=issue.company, issue=issue, approval=approval)


def answering_for(issue: Issue) -> Member:
    """The issue's responsible person, or an owner when they have left the company."""
    return issue.responsible if issue.responsible.is_present else first_owner(issue.company)


def first_owner(company: Company) -> Member:
    """The owner of longest standing; a company always has one."""
    return company.members.present().filter(role=Role.OWNER).earliest("pk")


def settle(*, approval: Approval) -> None:
    """Take a decided approval out of every inbox."""
    _archive(InboxItem.objects.filter(approval=approval))


def settle_issue(issue: Issue, *kinds: InboxKind, member: Member | None = None) -> None:
    """Take out of the inboxes (of one member, if one is given) what was wanted on an issue and is no more."""
    items = InboxItem.objects.filter(issue=issue, kind__in=kinds, approval=None)
    _archive(items if member is None else items.filter(member=member))


def _archive(items: QuerySet[InboxItem]) -> None:
    items.filter(archived_at=None).update(archived_at=timezone.now())


@service
def mark_read(*, actor: Actor, item: InboxItem) -> InboxItem:
    _own(actor, item)
    if item.read_at is None:
        item.read_at = timezone.now()
        item.save(update_fields=["read_at"])
    return item


@service
def archive_item(*, actor: Actor, item: InboxItem) -> InboxItem:
    _own(actor, item)
    item.archived_at = item.archived_at or timezone.now()
    item.read_at = item.read_at or item.archived_at
    item.save(update_fields=["archived_at", "read_at"])
    return item


@service
def archive_read(*, actor: Actor, company: Company) -> int:
    """Archive all of the own inbox that only tells and was read; answer how much that was."""
    member = require_belonging(actor, company)
    if member is None:
        raise Forbidden("Only people have an inbox.")
    items = InboxItem.objects.filter(company=company, member=member).standing().telling()
    return items.exclude(read_at=None).update(archived_at=timezone.now())


@service
def snooze_item(*, actor: Actor, item: InboxItem, until: datetime.datetime) -> InboxItem:
    """Put the item out of sight. At that time it stands there again, unread."""
    _own(actor, item)
    if item.archived_at is not None:
        raise Conflict("It is archived.", "Bring it back first.")
    if until <= timezone.now():
        raise Invalid("That time has passed.", "Choose a later one.", field="until")
    item.snoozed_until, item.read_at = until, None
    item.save(update_fields=["snoozed_until", "read_at"])
    return item


@service
def bring_back(*, actor: Actor, item: InboxItem) -> InboxItem:
    """Let a snoozed or archived item stand in the inbox again."""
    _own(actor, item)
    if item.approval is not None and not item.approval.is_pending and item.is_wanting:
        raise Conflict("That was decided meanwhile.")
    item.snoozed_until = item.archived_at = None
    item.save(update_fields=["snoozed_until", "archived_at"])
    return item


def _own(actor: Actor, item: InboxItem) -> None:
    member = actor.member_in(item.company) if isinstance(actor, Person) else None
    if member is None or member.pk != item.member_id:
        raise NotFound("There is no such inbox item.")
