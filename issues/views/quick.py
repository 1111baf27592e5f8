"""The quick ways: taking back what one has just done."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from issues.pages import Visit, changed, company_page, open_trace
from issues.services.undo import undo as undo_act


@require_POST
@company_page
def undo(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Restore what was before the act that the toast spoke of."""
    issues = undo_act(actor=visit.person, company=visit.company, trace=open_trace(request.POST.get("trace", "")))
    said = f"{issues[0].identifier} is" if len(issues) == 1 else f"{len(issues)} issues are"
    return changed(request, f"{said} as before.", to=next_page(request, visit))


def next_page(request: HttpRequest, visit: Visit) -> str:
    """Back to the page that was acted on, if it is one of the company's; else to the board."""
    root = f"/{visit.company.slug}/"
    asked = request.POST.get("next") or request.GET.get("next", "")
    return asked if asked.startswith(root) and "\\" not in asked else reverse("board", args=[visit.company.slug])
