"""What a person is told: first what wants something of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from issues.models import InboxItem, InboxKind
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import NotFound
from issues.services.inbox import archive_item, mark_read

WANTING = (InboxKind.APPROVAL, InboxKind.REVIEW, InboxKind.BLOCKED, InboxKind.STOPPED)
ITEMS = 100


@require_safe
@company_page
def inbox(request: HttpRequest, visit: Visit) -> HttpResponse:
    items = (
        InboxItem.objects.filter(company=visit.company, member=visit.member, archived_at=None)
        .select_related("issue__company", "approval")
        .order_by("-pk")[:ITEMS]
    )
    context = {
        "at": reverse("inbox", args=[visit.company.slug]),
        "wanting": [item for item in items if item.kind in WANTING],
        "telling": [item for item in items if item.kind not in WANTING],
    }
    template = "issues/inbox_view.html" if is_partial(request) else "issues/inbox.html"
    return show(request, visit, template, context)


@require_POST
@company_page
def open_item(_request: HttpRequest, visit: Visit, item: int) -> HttpResponse:
    """Mark as read and go where it points."""
    found = mark_read(actor=visit.person, item=_find(visit, item))
    return redirect(_address(visit, found))


@require_POST
@company_page
def archive(request: HttpRequest, visit: Visit, item: int) -> HttpResponse:
    archive_item(actor=visit.person, item=_find(visit, item))
    return changed(request, "Archived.", to=reverse("inbox", args=[visit.company.slug]))


def _find(visit: Visit, pk: int) -> InboxItem:
    items = InboxItem.objects.filter(company=visit.company, member=visit.member)
    item = items.select_related("company", "issue__company", "approval").filter(pk=pk).first()
    if item is None:
        raise NotFound("There is no such inbox item.")
    return item


def _address(visit: Visit, item: InboxItem) -> str:
    slug = visit.company.slug
    if item.approval_id is not None:
        return reverse("approval", args=[slug, item.approval_id])
    if item.issue is None:
        return reverse("inbox", args=[slug])
    issue = reverse("issue", args=[slug, item.issue.identifier])
    return f"{issue}#comment-{item.comment_id}" if item.comment_id is not None else issue
