"""Founding a company: the first thing that a person without one can do."""

from __future__ import annotations

import re
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from issues.actors import Person
from issues.models import User
from issues.refusals import Refusal
from issues.services.companies import found_company
from issues.zones import zone_names


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def found(request: HttpRequest) -> HttpResponse:
    """The form; founded, it leads to the first steps there."""
    assert isinstance(request.user, User)  # noqa: S101 - logged in
    if request.method != "POST":
        return _page(request, {"time_zone": request.user.time_zone})
    name = request.POST.get("name", "")
    try:
        company = found_company(
            actor=Person(request.user),
            name=name,
            key=request.POST.get("key", "").strip() or _key_of(name),
            mission=request.POST.get("mission", ""),
            time_zone=request.POST.get("time_zone", "UTC"),
        )
    except Refusal as refusal:
        return _page(request, request.POST, refusal)
    return redirect("start", company.slug)


def _key_of(name: str) -> str:
    """A key made from a name: `Lighthouse Press` is LP, `Acme` is ACME."""
    words = re.findall(r"[A-Z0-9]+", name.upper())
    initials = "".join(word[0] for word in words) if len(words) > 1 else "".join(words)[:4]
    return re.sub(r"^[0-9]+", "", initials)[:10]


def _page(request: HttpRequest, values: Any, refusal: Refusal | None = None) -> HttpResponse:
    context = {"values": values, "zones": zone_names(), "refusal": refusal}
    return render(request, "session/found.html", context, status=refusal.http_status if refusal else 200)
