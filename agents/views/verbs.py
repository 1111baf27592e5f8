"""The help page on verbs, for people who read or write what agents say."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engine.reference import BODIES
from engine.verbs.registry import VERBS
from issues.markdown import Place


@require_safe
@login_required
def verbs(request: HttpRequest) -> HttpResponse:
    """Every verb with what it does, where, and an example. It is the same for all companies."""
    context = {"verbs": [(verb, BODIES[verb.body]) for verb in VERBS], "place": Place("", frozenset())}
    return render(request, "agents/verbs.html", context)
