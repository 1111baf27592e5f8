"""What a person is told: first what wants something of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.http import require_POST, require_safe

from issues.addresses import address_of_item
from issues.models import WANTING, ApprovalKind, InboxItem, InboxKind
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.refusals import NotFound
from issues.services.inbox import archive_item, archive_read, bring_back, mark_read, snooze_item
from issues.snoozing import read_snooze, snooze_choices

ITEMS = 100
"""Items of a part that are shown at once; archiving brings up what is older."""

NEEDS = "Needs you"
GROUPS: tuple[tuple[str, tuple[InboxKind, ...]], ...] = (
    (NEEDS, WANTING),
    ("Answers", (InboxKind.ANSWER,)),
    ("In review or done", (InboxKind.MOVED,)),
    ("Mentions", (InboxKind.MENTION,)),
    ("Failures", (InboxKind.FAILURE,)),
    ("Budget", (InboxKind.BUDGET,)),
)
"""The parts of the inbox in their order, with what stands in each."""

SHELVES = ("snoozed", "archived")


@dataclass(frozen=True, slots=True)
class Group:
    """A part of the inbox, newest first."""

    title: str
    items: list[InboxItem]


@require_safe
@company_page
def inbox(request: HttpRequest, visit: Visit) -> HttpResponse:
    """`show` is `snoozed` or `archived` for what is out of sight."""
    shelf = request.GET.get("show", "")
    shelf = shelf if shelf in SHELVES else ""
    context = {
        "at": reverse("inbox", args=[visit.company.slug]),
        "shelf": shelf,
        "groups": _groups(visit) if not shelf else [Group(shelf.title(), _shelved(visit, shelf))],
        "snoozes": snooze_choices(timezone.localtime()),
    }
    template = "issues/inbox_view.html" if is_partial(request) else "issues/inbox.html"
    return show(request, visit, template, context)


@require_POST
@company_page
def open_item(_request: HttpRequest, visit: Visit, item: int) -> HttpResponse:
    """Mark as read and go where it points."""
    found = mark_read(actor=visit.person, item=_find(visit, item))
    return redirect(address_of_item(visit.company, found))


@require_POST
@company_page
def read(request: HttpRequest, visit: Visit, item: int) -> HttpResponse:
    """Mark as read and stay."""
    mark_read(actor=visit.person, item=_find(visit, item))
    return changed(request, "Read.", to=_here(visit))


@require_POST
@company_page
def archive(request: HttpRequest, visit: Visit, item: int) -> HttpResponse:
    archive_item(actor=visit.person, item=_find(visit, item))
    return changed(request, "Archived.", to=_here(visit))


@require_POST
@company_page
def archive_all(request: HttpRequest, visit: Visit) -> HttpResponse:
    """All that was read, but for what still wants something."""
    count = archive_read(actor=visit.person, company=visit.company)
    said = f"Archived {count} that you have read." if count else "Nothing that you have read stands here."
    return changed(request, said, to=_here(visit))


@require_POST
@company_page
def snooze(request: HttpRequest, visit: Visit, item: int) -> HttpResponse:
    """Out of sight until then, in the person's own zone."""
    found = _find(visit, item)
    until = read_snooze(request.POST.get("until", ""), request.POST.get("date", ""), timezone.localtime())
    snooze_item(actor=visit.person, item=found, until=until)
    return changed(request, f"It comes back on {date_format(until, 'l, j F, H:i')}.", to=_here(visit))


@require_POST
@company_page
def back(request: HttpRequest, visit: Visit, item: int) -> HttpResponse:
    bring_back(actor=visit.person, item=_find(visit, item))
    return changed(request, "It stands in the inbox again.", to=_here(visit))


def _own(visit: Visit) -> Any:
    return InboxItem.objects.filter(company=visit.company, member=visit.member)


def with_subject(items: QuerySet[InboxItem]) -> QuerySet[InboxItem]:
    """The items with what their lines name, without the long texts that issues and agents hold."""
    agents = ("issue__assignee_agent", "approval__requested_by_agent")
    texts = [f"{agent}__{text}" for agent in agents for text in ("instructions", "knowledge", "script")]
    return items.select_related("issue__company", "approval", *agents).defer("issue__description", *texts)


def _groups(visit: Visit) -> list[Group]:
    """What stands, in two queries, so that news never crowds out what is wanted."""
    standing = _own(visit).standing().order_by("-pk")
    wanting, telling = with_subject(standing.wanting())[:ITEMS], with_subject(standing.telling())[:ITEMS]
    items = [*sorted(wanting, key=_weight), *telling]
    groups = [Group(title, [item for item in items if item.kind in kinds]) for title, kinds in GROUPS]
    return [group for group in groups if group.items]


def _weight(item: InboxItem) -> int:
    """Approvals, then questions, reviews, what is blocked, what stopped."""
    is_question = item.approval is not None and item.approval.kind == ApprovalKind.QUESTION
    return 2 * WANTING.index(InboxKind(item.kind)) + is_question


def _shelved(visit: Visit, shelf: str) -> list[InboxItem]:
    own = _own(visit)
    if shelf == "snoozed":
        return list(with_subject(own.snoozed().order_by("snoozed_until", "pk"))[:ITEMS])
    return list(with_subject(own.exclude(archived_at=None).order_by("-archived_at", "-pk"))[:ITEMS])


def _find(visit: Visit, pk: int) -> InboxItem:
    item = _own(visit).select_related("company", "issue__company", "approval").filter(pk=pk).first()
    if item is None:
        raise NotFound("There is no such inbox item.")
    return item  # type: ignore[no-any-return]


def _here(visit: Visit) -> str:
    return reverse("inbox", args=[visit.company.slug])
