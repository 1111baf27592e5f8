"""Light, dark, or as the system has it: kept in a cookie, so that the first byte of a page is right already."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

COOKIE = "trimus_theme"
THEMES = ("system", "light", "dark")
YEAR = 365 * 24 * 3600


def theme_of(request: HttpRequest) -> str:
    chosen = request.COOKIES.get(COOKIE, "system")
    return chosen if chosen in THEMES else "system"


def keep_theme(response: HttpResponse, theme: str, *, secure: bool) -> None:
    """Remember the choice for a year; an unknown word is not kept."""
    if theme in THEMES:
        response.set_cookie(COOKIE, theme, max_age=YEAR, samesite="Lax", secure=secure, httponly=True)
