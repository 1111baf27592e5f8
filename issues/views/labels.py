"""Labels: small words that issues are sorted by."""

from __future__ import annotations

from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from issues.models import Label
from issues.pages import Visit, changed, company_page, show
from issues.refusals import NotFound, Refusal
from issues.services.projects import create_label, delete_label, edit_label

COLOURS = ("#7a7f87", "#2f6fdb", "#8250df", "#cf222e", "#1a7f4b", "#9a6700", "#bf3989", "#0f7b8a")
"""Offered to a new label, one after the other."""


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def labels(request: HttpRequest, visit: Visit) -> HttpResponse:
    """All labels; posted to, it makes one."""
    if request.method != "POST":
        return _page(request, visit)
    name, colour = request.POST.get("name", ""), request.POST.get("colour", "")
    try:
        label = create_label(actor=visit.person, company=visit.company, name=name, colour=colour)
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal, name=name, colour=colour)
    return changed(request, f"The label “{label.name}” is made.", to=_address(visit), moves_on=True)


@require_POST
@company_page
def edit(request: HttpRequest, visit: Visit, label: int) -> HttpResponse:
    name, colour = request.POST.get("name", ""), request.POST.get("colour", "")
    found = edit_label(actor=visit.person, label=_find(visit, label), name=name, colour=colour)
    return changed(request, f"The label “{found.name}” is changed.", to=_address(visit), moves_on=True)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def delete(request: HttpRequest, visit: Visit, label: int) -> HttpResponse:
    """Asked once more before, on a page of its own, since issues lose it."""
    found = _find(visit, label)
    if request.method != "POST":
        return show(request, visit, "issues/delete_label.html", {"at": _address(visit), "label": found})
    name = found.name
    delete_label(actor=visit.person, label=found)
    return changed(request, f"The label “{name}” is deleted.", to=_address(visit), moves_on=True)


def _page(
    request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None, name: str = "", colour: str = ""
) -> HttpResponse:
    rows = list(_counted(visit).order_by("name"))
    context = {
        "at": _address(visit),
        "labels": rows,
        "refusal": refusal,
        "name": name,
        "colour": colour or COLOURS[len(rows) % len(COLOURS)],
    }
    response = show(request, visit, "issues/labels.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response


def _counted(visit: Visit) -> QuerySet[Label]:
    return Label.objects.filter(company=visit.company).annotate(issues_all=Count("issues"))


def _find(visit: Visit, pk: int) -> Label:
    label = _counted(visit).select_related("company").filter(pk=pk).first()
    if label is None:
        raise NotFound("There is no such label.")
    return label


def _address(visit: Visit) -> str:
    return reverse("labels", args=[visit.company.slug])
