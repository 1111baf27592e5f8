"""Coming and going: log in by password or one-time link, log out, choose a theme."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from issues.forms import LogInForm
from issues.refusals import Refusal
from issues.services.accounts import use_login_link
from issues.slowdown import Slowdown
from issues.themes import keep_theme
from issues.who import keep_who

_slowdown = Slowdown()


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(_next(request))
    if request.method != "POST":
        return render(request, "session/log_in.html", {"next": _next(request)})
    form = LogInForm(request.POST)
    username = form.cleaned_data["username"] if form.is_valid() else ""
    wait = _slowdown.seconds_to_wait(username, _address(request))
    if wait:
        return _log_in_again(request, username, f"Too many tries. Wait {wait} seconds, then try again.", status=429)
    user = authenticate(request, **form.cleaned_data) if username else None
    if user is None:
        _slowdown.failed(username, _address(request))
        return _log_in_again(request, username, "The name or the password is wrong.", status=422)
    _slowdown.succeeded(username)
    login(request, user)
    return keep_who(redirect(_next(request)), user)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def log_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """A one-time link. Opening it shows a button, since programs that preview links would spend it otherwise."""
    if request.method != "POST":
        return render(request, "session/link.html")
    try:
        user = use_login_link(token)
    except Refusal as refusal:
        return render(request, "session/link.html", {"refusal": refusal}, status=refusal.http_status)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return keep_who(redirect("companies"), user)


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("log-in")


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    response = HttpResponseRedirect(_next(request))
    keep_theme(response, request.POST.get("theme", ""), secure=settings.SESSION_COOKIE_SECURE)
    return response


def _log_in_again(request: HttpRequest, username: str, wrong: str, *, status: int) -> HttpResponse:
    context = {"wrong": wrong, "username": username, "next": _next(request)}
    return render(request, "session/log_in.html", context, status=status)


def _next(request: HttpRequest) -> str:
    """Where to go on: a page of this site, else the start."""
    asked = request.POST.get("next") or request.GET.get("next") or "/"
    safe = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if safe else "/"


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))
