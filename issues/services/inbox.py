"""Telling people."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils import timezone

from issues.actors import Actor, Person
from issues.effects import service
from issues.models import Approval, Comment, Company, InboxItem, InboxKind, Issue, Member, Role
from issues.refusals import NotFound


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
        if member.pk not in standing
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
    InboxItem.objects.filter(approval=approval, archived_at=None).update(archived_at=timezone.now())


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


def _own(actor: Actor, item: InboxItem) -> None:
    member = actor.member_in(item.company) if isinstance(actor, Person) else None
    if member is None or member.pk != item.member_id:
        raise NotFound("There is no such inbox item.")
