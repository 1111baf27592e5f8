"""`/skill.md`: what the host of an outside agent gives it to read."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from engine.guide import skill


@require_safe
def skill_page(request: HttpRequest) -> HttpResponse:
    """It says nothing that is anybody's own, and needs no log-in. The address in it is the one it was asked at."""
    address = request.build_absolute_uri("/").rstrip("/")
    return HttpResponse(skill(address), content_type="text/markdown; charset=utf-8")
