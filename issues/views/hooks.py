"""Hooks in: addresses at which other programs open issues, and what came by them. For owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from issues.models import Hook, Label, Priority
from issues.names import Names
from issues.numbers import as_number
from issues.pages import Visit, changed, company_page, show
from issues.policies import Right, require
from issues.refusals import Invalid, NotFound, Refusal
from issues.services.hooks import add_hook, edit_hook, remove_hook, rotate_token, switch_hook
from issues.views.lookup import find_assignee, find_labels, find_project, read_priority

SHOWN = 20
"""Calls of a hook's page."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def new_hook(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The form; posted to, it makes one and shows its address in the answer, this once."""
    require(visit.person, Right.MANAGE_COMPANY, visit.company)
    if request.method != "POST":
        return _form(request, visit, None, {"title": "{{title}}", "description": "{{description}}", "per_hour": "60"})
    try:
        hook, token = add_hook(actor=visit.person, company=visit.company, **_sent(request, visit))
    except Refusal as refusal:
        return _form(request, visit, None, request.POST, refusal=refusal)
    return _address(request, visit, hook, token)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def hook_page(request: HttpRequest, visit: Visit, hook: int) -> HttpResponse:
    """One hook with what it opened last; posted to, it is changed."""
    require(visit.person, Right.MANAGE_COMPANY, visit.company)
    row = _of_company(visit, hook)
    if request.method != "POST":
        return _form(request, visit, row, _values(row))
    try:
        edit_hook(actor=visit.person, hook=row, **_sent(request, visit))
    except Refusal as refusal:
        return _form(request, visit, row, request.POST, refusal=refusal)
    return changed(request, "The hook is changed.", to=_page_of(row), moves_on=True)


@require_POST
@company_page
def switch(request: HttpRequest, visit: Visit, hook: int) -> HttpResponse:
    row = switch_hook(actor=visit.person, hook=_of_company(visit, hook), on=request.POST.get("on") == "1")
    said = f"{row.name} opens issues from now on." if row.enabled else f"{row.name} opens nothing any more."
    return changed(request, said, to=_page_of(row), moves_on=True)


@never_cache
@require_POST
@company_page
def rotate(request: HttpRequest, visit: Visit, hook: int) -> HttpResponse:
    """The new address stands in the answer, this once."""
    row, token = rotate_token(actor=visit.person, hook=_of_company(visit, hook))
    return _address(request, visit, row, token, is_new=False)


@require_POST
@company_page
def remove(request: HttpRequest, visit: Visit, hook: int) -> HttpResponse:
    row = _of_company(visit, hook)
    remove_hook(actor=visit.person, hook=row)
    to = reverse("webhooks", args=[visit.company.slug])
    return changed(request, f"{row.name} is removed.", to=to, moves_on=True)


def _of_company(visit: Visit, pk: int) -> Hook:
    row = visit.company.hooks.filter(pk=pk, removed_at=None).first()
    if row is None:
        raise NotFound("There is no such hook.")
    row.company = visit.company
    return row


def _page_of(row: Hook) -> str:
    return reverse("hook", args=[row.company.slug, row.pk])


def _sent(request: HttpRequest, visit: Visit) -> dict[str, Any]:
    """What the form says, looked up. Invalid for what is none."""
    sent = request.POST
    per_hour = as_number(sent.get("per_hour", ""))
    if per_hour is None:
        raise Invalid("How many issues an hour is a number.", field="per_hour")
    return {
        "name": sent.get("name", ""),
        "title": sent.get("title", ""),
        "description": sent.get("description", ""),
        "priority": read_priority(sent.get("priority", "none")),
        "project": find_project(visit, sent.get("project", "")),
        "assignee": find_assignee(visit, sent.get("assignee", "")),
        "labels": find_labels(visit, sent.getlist("labels")),
        "id_field": sent.get("id_field", ""),
        "per_hour": per_hour,
    }


def _values(row: Hook) -> dict[str, str]:
    """The hook as its form would send it."""
    one: Any = row.assignee_agent_id or row.assignee_member_id
    kind = "agent" if row.assignee_agent_id else "member"
    return {
        "name": row.name,
        "title": row.title,
        "description": row.description,
        "priority": Priority(row.priority).slug,
        "project": str(row.project_id or ""),
        "assignee": f"{kind}:{one}" if one else "",
        "id_field": row.id_field,
        "per_hour": str(row.per_hour),
    }


def _chosen_labels(request: HttpRequest, row: Hook | None) -> set[str]:
    if request.method == "POST":
        return set(request.POST.getlist("labels"))
    return {str(label.pk) for label in row.labels.all()} if row is not None else set()


def _frame(visit: Visit) -> dict[str, Any]:
    return {"at": reverse("settings", args=[visit.company.slug]), "here": "webhooks"}


def _form(
    request: HttpRequest,
    visit: Visit,
    row: Hook | None,
    values: Mapping[str, Any],
    *,
    refusal: Refusal | None = None,
) -> HttpResponse:
    names = Names(visit.company)
    chosen = _chosen_labels(request, row)
    labels: list[tuple[Label, bool]] = [(label, str(label.pk) in chosen) for label in visit.company.labels.all()]
    context = {
        **_frame(visit),
        "hook": row,
        "calls": list(row.calls.order_by("-pk")[:SHOWN]) if row is not None else [],
        "values": values,
        "labels": labels,
        "people": [*names.present_agents, *names.present_members],
        "projects": visit.company.projects.filter(archived_at=None).order_by("name"),
        "priorities": list(Priority),
        "refusal": refusal,
    }
    response = show(request, visit, "settings/hook.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response


def _address(request: HttpRequest, visit: Visit, row: Hook, token: str, *, is_new: bool = True) -> HttpResponse:
    url = request.build_absolute_uri(f"/api/hooks/{token}")
    context = {**_frame(visit), "hook": row, "url": url, "is_new": is_new}
    return show(request, visit, "settings/hook_made.html", context)
