"""What agents ask the board, and the answers."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from issues.markdown import Place
from issues.models import Approval, ApprovalKind, ApprovalStatus
from issues.names import Names, Somebody
from issues.pages import Visit, changed, company_page, is_partial, next_page, show
from issues.refusals import Invalid, NotFound
from issues.services.approvals import Words, decide_approval

DECIDED_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Question:
    """An approval with the one who asked and the one who decided."""

    approval: Approval
    requester: Somebody | None
    decider: Somebody | None


@require_safe
@company_page
def approvals(request: HttpRequest, visit: Visit) -> HttpResponse:
    """All that are pending, oldest first, and the latest decisions."""
    names = Names(visit.company)
    all_of_them = _approvals(visit)
    pending = all_of_them.filter(status=ApprovalStatus.PENDING).order_by("pk")[:200]
    decided = all_of_them.exclude(status=ApprovalStatus.PENDING).order_by("-decided_at", "-pk")[:DECIDED_SHOWN]
    context = {
        "at": reverse("approvals", args=[visit.company.slug]),
        "names": names,
        "pending": [_question(approval, names) for approval in pending],
        "decided": [_question(approval, names) for approval in decided],
        "place": Place(visit.company.key, names.handles),
    }
    template = "issues/approvals_view.html" if is_partial(request) else "issues/approvals.html"
    return show(request, visit, template, context)


@require_safe
@company_page
def approval_page(request: HttpRequest, visit: Visit, approval: int) -> HttpResponse:
    names = Names(visit.company)
    context = {
        "at": reverse("approvals", args=[visit.company.slug]),
        "names": names,
        "question": _question(_find(visit, approval), names),
        "place": Place(visit.company.key, names.handles),
    }
    template = "issues/approval_view.html" if is_partial(request) else "issues/approval.html"
    return show(request, visit, template, context)


@require_POST
@company_page
def decide(request: HttpRequest, visit: Visit, approval: int) -> HttpResponse:
    """Approve, refuse, send back or answer what was shown: the form carries the hash of what the person saw."""
    found = _find(visit, approval)
    is_edited = "edited" in request.POST
    word = ApprovalStatus.APPROVED.value if is_edited else request.POST.get("decision", "")
    if word not in ApprovalStatus.values or word in (ApprovalStatus.PENDING, ApprovalStatus.CANCELLED):
        raise Invalid(f"“{word}” is not a decision.", field="decision")
    note = request.POST.get("choice") or request.POST.get("note", "")
    carries_out = found.kind == ApprovalKind.ACTION and word == ApprovalStatus.APPROVED
    decided = decide_approval(
        actor=visit.person,
        approval=found,
        status=ApprovalStatus(word),
        note=note,
        shown_hash=request.POST.get("shown") or ("" if carries_out else None),
        always="always" in request.POST,
        edited=_words(request, found) if is_edited else None,
    )
    said = f"{decided.get_status_display()}: {decided.title}"
    if decided.failure:
        said = f"Approved, but it could not be carried out: {decided.failure}"
    return changed(request, said, to=next_page(request, visit, otherwise="approvals"))


def _words(request: HttpRequest, approval: Approval) -> list[Words]:
    """The actions as the form has them; browsers end lines in their own way."""
    actions = approval.payload.get("actions", [])
    fields = [(f"args-{action['ordinal']}", f"body-{action['ordinal']}") for action in actions]
    return [
        Words(request.POST.get(args, "").strip(), request.POST.get(body, "").replace("\r\n", "\n"))
        for args, body in fields
    ]


def _approvals(visit: Visit) -> QuerySet[Approval]:
    return Approval.objects.filter(company=visit.company).select_related("issue__company")


def _find(visit: Visit, pk: int) -> Approval:
    approval = _approvals(visit).filter(pk=pk).first()
    if approval is None:
        raise NotFound("There is no such approval.")
    return approval


def _question(approval: Approval, names: Names) -> Question:
    return Question(
        approval=approval,
        requester=names.somebody(agent=approval.requested_by_agent_id, member=approval.requested_by_member_id),
        decider=names.members.get(approval.decided_by_id) if approval.decided_by_id else None,
    )
