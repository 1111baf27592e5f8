"""Saved views: keeping a selection, renaming, sharing, letting it go. The board and the list offer them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from issues.models import SavedView
from issues.numbers import as_number
from issues.pages import Visit, changed, company_page, next_page, show
from issues.refusals import Invalid, NotFound
from issues.services.saved_views import change_view, delete_view, save_view
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


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def views(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The reader's own views, to be renamed, shared or deleted, and those of others. Sent, it keeps the selection that
    a page shows."""
    if request.method == "POST":
        return _keep(request, visit)
    rows = list(_reachable(visit).select_related("member__user").order_by("name", "pk"))
    context = {
        "at": reverse("views", args=[visit.company.slug]),
        "own": [(view, _address(visit, view)) for view in rows if view.member_id == visit.member.pk],
        "others": [(view, _address(visit, view)) for view in rows if view.member_id != visit.member.pk],
    }
    return show(request, visit, "issues/views.html", context)


@require_POST
@company_page
def edit(request: HttpRequest, visit: Visit, view: int) -> HttpResponse:
    """Rename it, share it or keep it to oneself."""
    found = change_view(
        actor=visit.person, view=_find(visit, view), name=request.POST.get("name", ""), shared="shared" in request.POST
    )
    return changed(request, f"“{found.name}” is changed.", to=reverse("views", args=[visit.company.slug]))


@require_POST
@company_page
def delete(request: HttpRequest, visit: Visit, view: int) -> HttpResponse:
    found = _find(visit, view)
    name, page = found.name, found.page
    delete_view(actor=visit.person, view=found)
    to = next_page(request, visit, otherwise=page)
    return changed(request, f"The view “{name}” is deleted.", to=to, moves_on=True)


def _keep(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Under a new name, or in place of what a view (`replaces`) holds."""
    query = Selection.read(QueryDict(request.POST.get("query", ""))).query
    replaces = as_number(request.POST.get("replaces", ""))
    if replaces is not None:
        view = change_view(actor=visit.person, view=_find(visit, replaces), query=query)
        return changed(request, f"“{view.name}” holds these filters now.", to=_address(visit, view), moves_on=True)
    page = request.POST.get("page", "")
    if page not in SavedView.Page.values:
        raise Invalid("There is no such page to come back to.", field="page")
    view = save_view(
        actor=visit.person,
        company=visit.company,
        name=request.POST.get("name", ""),
        page=SavedView.Page(page),
        query=query,
        shared="shared" in request.POST,
    )
    return changed(request, f"“{view.name}” is kept.", to=_address(visit, view), moves_on=True)


def _find(visit: Visit, pk: int) -> SavedView:
    found = _reachable(visit).select_related("company").filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such view.")
    return found


def _reachable(visit: Visit) -> QuerySet[SavedView]:
    return SavedView.objects.filter(Q(member=visit.member) | Q(is_shared=True), company=visit.company)


def _address(visit: Visit, view: SavedView) -> str:
    at = reverse(view.page, args=[visit.company.slug])
    return f"{at}?{view.query}" if view.query else at
