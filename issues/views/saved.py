"""Saved views: keeping a selection, and letting it go. The board and the list offer them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_POST

from issues.models import SavedView
from issues.pages import Visit, changed, company_page
from issues.refusals import Invalid, NotFound
from issues.services.saved_views import delete_view, save_view
from issues.views.selection import Selection


@dataclass(frozen=True, slots=True)
class Offered:
    """A view as the menu shows it."""

    view: SavedView
    address: str
    is_own: bool
    is_current: bool


def offered_views(visit: Visit, *, page: str, selection: Selection) -> list[Offered]:
    """The reader's own views and those that are shared, by name."""
    views = _reachable(visit).order_by("name", "pk")
    return [
        Offered(
            view,
            _address(visit, view),
            is_own=view.member_id == visit.member.pk,
            is_current=view.page == page and view.query == selection.query,
        )
        for view in views
    ]


@require_POST
@company_page
def save(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Keep the selection that the page shows."""
    page = request.POST.get("page", "")
    if page not in SavedView.Page.values:
        raise Invalid("There is no such page to come back to.", field="page")
    view = save_view(
        actor=visit.person,
        company=visit.company,
        name=request.POST.get("name", ""),
        page=SavedView.Page(page),
        query=Selection.read(QueryDict(request.POST.get("query", ""))).query,
        shared="shared" in request.POST,
    )
    return changed(request, f"“{view.name}” is kept.", to=_address(visit, view), moves_on=True)


@require_POST
@company_page
def delete(request: HttpRequest, visit: Visit, view: int) -> HttpResponse:
    found = _reachable(visit).select_related("company").filter(pk=view).first()
    if found is None:
        raise NotFound("There is no such view.")
    name, page = found.name, found.page
    delete_view(actor=visit.person, view=found)
    return changed(request, f"The view “{name}” is deleted.", to=reverse(page, args=[visit.company.slug]))


def _reachable(visit: Visit) -> QuerySet[SavedView]:
    return SavedView.objects.filter(Q(member=visit.member) | Q(is_shared=True), company=visit.company)


def _address(visit: Visit, view: SavedView) -> str:
    at = reverse(view.page, args=[visit.company.slug])
    return f"{at}?{view.query}" if view.query else at
