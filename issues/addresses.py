"""Where on the board the things are that people are told of."""

from __future__ import annotations

from django.urls import reverse

from issues.models import Company, InboxItem, InboxKind


def address_of_item(company: Company, item: InboxItem) -> str:
    """The page that an item of an inbox speaks of, from the root of the site."""
    slug = company.slug
    if item.approval_id is not None:
        return reverse("approval", args=[slug, item.approval_id])
    if item.issue is None:
        return reverse("budgets" if item.kind == InboxKind.BUDGET else "inbox", args=[slug])
    issue = reverse("issue", args=[slug, item.issue.identifier])
    return f"{issue}?comment={item.comment_id}#comment-{item.comment_id}" if item.comment_id is not None else issue
