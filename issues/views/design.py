"""Every part of the design on one page, for whoever builds a page of it."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from issues.models import Priority, Status
from issues.names import HUES, Somebody

_NAMES = ("Ada Lovelace", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov")
_ICONS = (
    "home", "board", "list", "inbox", "approval", "question", "agent", "run", "activity", "person", "people", "plus",
    "search", "close", "check", "menu", "more", "down", "right", "arrow", "pin", "edit", "trash", "comment", "clock",
    "calendar", "label", "project", "children", "file", "finding", "skill", "alert", "stop", "pause", "play", "cost",
    "sun", "moon", "system", "leave", "eye", "link", "settings",
)  # fmt: skip
_GROUNDS = ("page", "sunken", "surface", "raised", "hover")
_SIZES = ("tiny", "small", "body", "large", "title", "display")


@require_safe
@login_required
def design(request: HttpRequest) -> HttpResponse:
    somebodies = [
        Somebody(kind, index, _NAMES[index % len(_NAMES)], f"{kind}-{index}", "active")
        for kind in ("member", "agent")
        for index in range(HUES)
    ]
    context = {
        "statuses": list(Status),
        "priorities": list(Priority),
        "somebodies": somebodies,
        "icons": _ICONS,
        "grounds": _GROUNDS,
        "sizes": _SIZES,
    }
    return render(request, "design.html", context)
