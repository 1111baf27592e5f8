"""The quick ways: changing an issue without opening it, and taking back what one has just done."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from issues.models import Issue, Label, Priority, Status
from issues.names import Names
from issues.pages import Visit, changed, company_page, is_partial, next_page, open_trace, show
from issues.services.undo import undo as undo_act
from issues.views.lookup import find_issue


@require_safe
@company_page
def menu(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """All that can be done to a card without opening it: in a dialog of the board, or as a page of its own."""
    issue = find_issue(visit, identifier)
    names = Names(visit.company)
    context = {
        "issue": issue,
        "first": _first_of_column(issue),
        "names": names,
        "assignee": names.somebody(agent=issue.assignee_agent_id, member=issue.assignee_member_id),
        "statuses": list(Status),
        "priorities": list(Priority),
        "labels": Label.objects.filter(company=visit.company).order_by("name"),
        "chosen": set(issue.labels.values_list("pk", flat=True)),
    }
    return show(request, visit, "issues/quick_menu.html" if is_partial(request) else "issues/quick.html", context)


@require_POST
@company_page
def undo(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Restore what was before the act that the toast spoke of."""
    issues = undo_act(actor=visit.person, company=visit.company, trace=open_trace(request.POST.get("trace", "")))
    said = f"{issues[0].identifier} is" if len(issues) == 1 else f"{len(issues)} issues are"
    return changed(request, f"{said} as before.", to=next_page(request, visit, otherwise="board"))


def _first_of_column(issue: Issue) -> str:
    """The identifier of the column's first card; empty when it is the issue itself."""
    first = issue.company.issues.filter(status=issue.status).in_board_order().values_list("number", flat=True).first()
    return "" if first is None or first == issue.number else f"{issue.company.key}-{first}"
