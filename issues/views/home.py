"""Where a member arrives: what needs them, what runs, what happened last."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agents.first_steps import first_steps
from agents.models import Run
from issues.events import MOST_AT_ONCE, changes_since
from issues.models import InboxItem, Issue, Member, User
from issues.models.issue import CLOSED
from issues.names import Names
from issues.numbers import as_number
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.services.companies import pause_company, resume_company
from issues.views.activity import newest_lines, tell_lines, wanted_by
from issues.views.fortnight import read_fortnight
from issues.views.inbox import with_subject

SHOWN = 8


@require_safe
@login_required
def companies(request: HttpRequest) -> HttpResponse:
    """The user's companies; with one only, that one."""
    assert isinstance(request.user, User)  # noqa: S101 - logged in
    memberships = Member.objects.present().filter(user=request.user).select_related("company").order_by("company__name")
    if len(memberships) == 1:
        return redirect("home", memberships[0].company.slug)
    return render(request, "session/companies.html", {"memberships": memberships})


@require_safe
@company_page
def home(request: HttpRequest, visit: Visit) -> HttpResponse:
    lines = newest_lines(visit.company).exclude(kind__in=("run.started", "run.ended"))[: 2 * SHOWN]
    names = Names(visit.company, wanted_by(lines))
    running = Run.objects.live().filter(company=visit.company).select_related("issue").order_by("-pk")
    mine = Issue.objects.filter(company=visit.company, assignee_member=visit.member).exclude(status__in=CLOSED)
    inbox = InboxItem.objects.filter(company=visit.company, member=visit.member).standing()
    context = {
        "at": reverse("home", args=[visit.company.slug]),
        "wanting": with_subject(inbox.wanting().order_by("-pk"))[:SHOWN],
        "running": [
            {"run": run, "agent": names.agents.get(run.agent_id)}
            for run in running.defer("system_message", "user_message", "reply", "prompt_sections")[:SHOWN]
        ],
        "mine": mine.in_work_order()[:SHOWN],
        "fortnight": read_fortnight(visit.company),
        "steps": first_steps(visit.company),
        "told": tell_lines(lines, names, f"/{visit.company.slug}/"),
    }
    return show(request, visit, "issues/home_view.html" if is_partial(request) else "issues/home.html", context)


@require_POST
@company_page
def pause(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The big switch: no agent of the company starts anything until it is resumed."""
    pause_company(actor=visit.person, company=visit.company)
    to = reverse("agents", args=[visit.company.slug])
    return changed(request, "The company is paused. What is pending waits.", to=to, moves_on=True)


@require_POST
@company_page
def resume(request: HttpRequest, visit: Visit) -> HttpResponse:
    resume_company(actor=visit.person, company=visit.company)
    to = reverse("agents", args=[visit.company.slug])
    return changed(request, "The company works again.", to=to, moves_on=True)


@require_safe
@company_page
def changes(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The event stream's news for a page that cannot hold a stream: it asks now and then."""
    after = as_number(request.GET.get("after", "")) or 0
    news = changes_since(visit.company.pk, after)
    return JsonResponse(
        {
            "after": max([after, *(change.id for change in news)]),
            "reset": len(news) >= MOST_AT_ONCE,
            "changes": [
                {"id": change.id, "kind": change.kind, "issue": change.issue, "run": change.run}
                for change in news[:MOST_AT_ONCE]
                if change.id > after
            ],
        }
    )
