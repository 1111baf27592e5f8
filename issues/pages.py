"""What every page of the board begins and ends with: who asks, in which company, and how a view answers.

A view of a company never sees a request before the membership was loaded: for everybody else the address does not
exist.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.apps import apps
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core import signing
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from issues.actors import Person
from issues.hidden_characters import name_hidden
from issues.models import Activity, Approval, ApprovalStatus, Company, InboxItem, Member, Role, User
from issues.names import somebody_of
from issues.refusals import Clash, Invalid, NotFound, Refusal
from issues.traces import Trace, Tracing

P = ParamSpec("P")

_TRACE_SALT = "trimus.undo"
_NOT_SHOWN_AGAIN = frozenset({"csrfmiddlewaretoken", "secret", "current", "new", "again"})
"""Fields of forms that hold keys and passwords."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A member's look at their company, with the figures that the side bar shows."""

    company: Company
    member: Member
    pending_approvals: int
    unread: int
    is_running: bool
    last_activity: int
    has_other_companies: bool

    @property
    def person(self) -> Person:
        return Person(self.member.user, self.member)

    @property
    def may_act(self) -> bool:
        """Whether buttons that change something are shown. The services decide for themselves."""
        return self.member.role != Role.VIEWER

    @property
    def is_owner(self) -> bool:
        return self.member.role == Role.OWNER


CompanyView = Callable[Concatenate[HttpRequest, Visit, P], HttpResponseBase]


def company_page(view: CompanyView[P]) -> Callable[..., HttpResponseBase]:
    """Make a view of one company: it gets the visit in place of the address, and its refusals become answers."""

    @functools.wraps(view)
    def page(request: HttpRequest, company: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not isinstance(request.user, User):
            return _log_in_first(request)
        visit = load_visit(request.user, company)
        with timezone.override(visit.member.user.time_zone):
            try:
                return view(request, visit, *args, **kwargs)
            except Refusal as refusal:
                return refuse(request, visit, refusal)

    return page


def load_visit(user: User, slug: str) -> Visit:
    """The user's visit to the company of that slug, in one query; 404 unless they are a member now."""
    member = _memberships(user).filter(company__key=slug.upper()).first()
    if member is None:
        raise Http404("There is no such company.")
    counted: Any = member
    return Visit(
        company=member.company,
        member=member,
        pending_approvals=counted.pending_approvals,
        unread=counted.unread,
        is_running=counted.is_running,
        last_activity=counted.last_activity,
        has_other_companies=counted.has_other_companies,
    )


def show(request: HttpRequest, visit: Visit, template: str, context: dict[str, Any] | None = None) -> HttpResponse:
    """A page, or a fragment of one, of the visit's company."""
    frame = {"visit": visit, "company": visit.company, "me": somebody_of(visit.member)}
    return render(request, template, {**frame, **(context or {})})


def is_partial(request: HttpRequest) -> bool:
    """Whether a script on the page asked, which swaps the answer in, and not the browser itself."""
    return request.headers.get("HX-Request") == "true"


def changed(
    request: HttpRequest, said: str, *, to: str, moves_on: bool = False, undo: Tracing | None = None
) -> HttpResponse:
    """The answer to a change that was made. The script is told to fetch anew what it shows (or, with `moves_on`, to
    go to `to`), a browser without scripts is sent there. With the trace of the change, undoing it is offered."""
    offer = seal_trace(undo.taken()) if undo is not None and undo.lines else ""
    if not is_partial(request):
        messages.success(request, said, extra_tags=offer)
        return redirect(to)
    if moves_on:
        messages.success(request, said, extra_tags=offer)
        return HttpResponse(status=204, headers={"HX-Redirect": to})
    return _tell(HttpResponse(status=204), {"trimus:changed": {}, "trimus:toast": {"text": said, "undo": offer}})


def next_page(request: HttpRequest, visit: Visit, *, otherwise: str) -> str:
    """Back to the page that was acted on (`next`), if it is one of the company's; else to the one of that name."""
    root = f"/{visit.company.slug}/"
    asked = request.POST.get("next") or request.GET.get("next", "")
    is_ours = asked.startswith(root) and "\\" not in asked
    return asked if is_ours else reverse(otherwise, args=[visit.company.slug])


def seal_trace(trace: Trace) -> str:
    """A trace as a word that a page can carry and nobody can alter."""
    return signing.dumps([trace.lines, trace.wakeups], salt=_TRACE_SALT, compress=True)


def open_trace(word: str) -> Trace:
    """The trace of a sealed word. Invalid for one that Trimus did not seal."""
    try:
        lines, wakeups = signing.loads(word, salt=_TRACE_SALT)
    except signing.BadSignature:
        raise Invalid("There is nothing to undo.") from None
    return Trace(tuple(lines), tuple(wakeups))


def refuse(request: HttpRequest, visit: Visit, refusal: Refusal) -> HttpResponse:
    """The answer to what was not done: the reason and what to do instead, never a lost text."""
    if is_partial(request):
        toast = {"text": refusal.reason, "hint": refusal.hint, "error": True}
        events: dict[str, dict[str, Any]] = {"trimus:toast": toast}
        if isinstance(refusal, Clash):
            events["trimus:changed"] = {}  # so that what is there now is seen
        return _tell(HttpResponse(status=refusal.http_status), events)
    if isinstance(refusal, NotFound):
        raise Http404(refusal.reason)
    is_clash = isinstance(refusal, Clash)  # sent again without what was seen, it is meant
    dropped = _NOT_SHOWN_AGAIN | ({"seen"} if is_clash else set())
    written = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in dropped and (value or is_clash)
    ]
    context = {"refusal": refusal, "written": written}
    response = show(request, visit, "refused.html", context)
    response.status_code = refusal.http_status
    return response


def _log_in_first(request: HttpRequest) -> HttpResponse:
    """To the log-in page, and back to where the person was. A script that sends something is told instead, so that
    what stands in the page's fields stays there; one that only looks for news has nothing to say."""
    if is_partial(request) and request.method in ("GET", "HEAD"):
        return HttpResponse(status=401)
    if is_partial(request):
        hint = "Log in in another tab, then send it again: what you wrote is still here."
        toast = {"text": "You are logged out.", "hint": hint, "error": True}
        return _tell(HttpResponse(status=401), {"trimus:toast": toast})
    came_from = urlsplit(request.headers.get("Referer", ""))
    here = request.get_full_path()
    return redirect_to_login(here if request.method in ("GET", "HEAD") else came_from.path or "/")


def _tell(response: HttpResponse, events: dict[str, dict[str, Any]]) -> HttpResponse:
    shown = {
        event: {name: name_hidden(value) if isinstance(value, str) else value for name, value in details.items()}
        for event, details in events.items()
    }
    response.headers["HX-Trigger"] = json.dumps(shown)
    return response


def _memberships(user: User) -> QuerySet[Member]:
    """Present memberships with their company and the figures of a visit."""
    run = apps.get_model("agents.Run")  # above this layer: only asked whether there is one
    here = {"company": OuterRef("company")}
    pending = Approval.objects.filter(**here, status=ApprovalStatus.PENDING)
    unread = InboxItem.objects.standing().filter(**here, member=OuterRef("pk"), read_at=None)
    last = Activity.objects.filter(**here).order_by("-pk").values("pk")[:1]
    others = Member.objects.present().filter(user=user).exclude(company=OuterRef("company"))
    return (
        Member.objects.present()
        .filter(user=user)
        .select_related("company", "user")
        .annotate(
            pending_approvals=_count(pending),
            unread=_count(unread),
            is_running=Exists(run.objects.filter(**here, state__in=("queued", "running"))),
            last_activity=Coalesce(Subquery(last), 0),
            has_other_companies=Exists(others),
        )
    )


def _count(rows: QuerySet[Any]) -> Coalesce:
    """How many rows of the company there are, as a subquery."""
    counted = rows.order_by().values("company").annotate(count=Count("pk"))
    return Coalesce(Subquery(counted.values("count")), 0)
