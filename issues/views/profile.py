"""The reader's own: name, time zone, e-mail, password, and how this browser shows the board."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from issues.models import Notice, NoticeState
from issues.notice_kinds import NOTICE_KINDS
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, Refusal
from issues.services.accounts import change_password, change_profile
from issues.services.notices import choose_notices
from issues.themes import COOKIE, THEMES, YEAR, theme_of
from issues.zones import zone_names

LETTER_KEYS_COOKIE = "trimus_keys"
"""`off` where one-letter keys do nothing: who dictates, or has a restless keyboard, would set things off by them."""


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def profile(request: HttpRequest, visit: Visit) -> HttpResponse:
    if request.method != "POST":
        return _page(request, visit)
    name, zone = request.POST.get("name", ""), request.POST.get("time_zone", "")
    try:
        change_profile(actor=visit.person, name=name, time_zone=zone)
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal, part="profile")
    return changed(request, "Your profile is saved.", to=_address(visit), moves_on=True)


@sensitive_post_parameters("current", "new", "again")
@require_POST
@company_page
def password(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Other browsers in which the person is logged in are logged out by it."""
    try:
        if request.POST.get("new", "") != request.POST.get("again", ""):
            raise Invalid("The two new passwords are not the same.", field="again")
        user = change_password(
            actor=visit.person, current=request.POST.get("current", ""), new=request.POST.get("new", "")
        )
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal, part="password")
    update_session_auth_hash(request, user)
    return changed(request, "Your password is set.", to=_address(visit), moves_on=True)


@require_POST
@company_page
def notices(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Where e-mail goes, and what is told by it."""
    email, names = request.POST.get("email", ""), request.POST.getlist("kinds")
    try:
        choose_notices(actor=visit.person, company=visit.company, email=email, names=names)
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal, part="notices")
    return changed(request, "That is kept.", to=_address(visit), moves_on=True)


@require_POST
@company_page
def browser(request: HttpRequest, visit: Visit) -> HttpResponse:
    """How this browser shows the board: theme and keys."""
    response = changed(request, "Kept for this browser.", to=_address(visit), moves_on=True)
    chosen = request.POST.get("theme", "")
    kept = {COOKIE: chosen if chosen in THEMES else "", LETTER_KEYS_COOKIE: "on" if request.POST.get("keys") else "off"}
    for cookie, value in kept.items():
        if value:
            secure = settings.SESSION_COOKIE_SECURE
            response.set_cookie(cookie, value, max_age=YEAR, samesite="Lax", secure=secure, httponly=True)
    return response


def _address(visit: Visit) -> str:
    return reverse("profile", args=[visit.company.slug])


def _last_failure(visit: Visit) -> Notice | None:
    """The newest e-mail to the reader, if it could not be sent."""
    ended = Notice.objects.filter(item__member=visit.member, state__in=(NoticeState.SENT, NoticeState.FAILED))
    last = ended.order_by("-ended_at").first()
    return last if last is not None and last.state == NoticeState.FAILED else None


def _page(request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None, part: str = "") -> HttpResponse:
    user = visit.member.user
    sent, sent_notices = part == "profile", part == "notices"
    context = {
        "at": _address(visit),
        "name": request.POST.get("name", "") if sent else user.name,
        "time_zone": request.POST.get("time_zone", "") if sent else user.time_zone,
        "zones": zone_names(),
        "email": request.POST.get("email", "") if sent_notices else user.email,
        "notice_kinds": NOTICE_KINDS,
        "mailed": request.POST.getlist("kinds") if sent_notices else visit.member.mailed,
        "is_mail_set_up": settings.NOTICES_BY_MAIL,
        "unsent": _last_failure(visit),
        "has_password": user.has_usable_password(),
        "themes": [("system", "As the system"), ("light", "Light"), ("dark", "Dark")],
        "chosen_theme": theme_of(request),
        "has_keys": request.COOKIES.get(LETTER_KEYS_COOKIE) != "off",
        "refusal": refusal,
        "part": part,
    }
    response = show(request, visit, "settings/profile.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
