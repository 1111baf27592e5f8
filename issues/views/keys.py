"""API keys: one's own, and for owners those of agents."""

from __future__ import annotations

import datetime
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from agents.connecting import connection_of
from agents.models import Agent
from issues.models import ApiKey, KeyScope
from issues.names import Names
from issues.numbers import as_id
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, NotFound, Refusal
from issues.services.keys import SCHEME, create_agent_key, create_user_key, revoke_key

LIVES = ((30, "30 days"), (90, "90 days"), (365, "a year"), (0, "until it is revoked"))
"""How long a new key lives, in days; 0 is without end."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def keys(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The keys that work; posted to, it makes one and shows it in the answer, this once."""
    if request.method != "POST":
        return _page(request, visit)
    try:
        key, text = _make(request, visit)
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal)
    context = {
        "at": reverse("settings", args=[visit.company.slug]),
        "here": "keys",
        "key": key,
        "text": text,
        "connection": connection_of(key.agent, request.build_absolute_uri("/"), key=text) if key.agent else None,
    }
    return show(request, visit, "settings/key_made.html", context)


@require_POST
@company_page
def revoke(request: HttpRequest, visit: Visit, key: int) -> HttpResponse:
    within_reach = Q(user=visit.member.user) | Q(company=visit.company, run=None)
    found = ApiKey.objects.select_related("company", "agent").filter(within_reach, pk=key).first()
    if found is None:
        raise NotFound("There is no such key.")
    revoke_key(actor=visit.person, key=found)
    to = reverse("keys", args=[visit.company.slug])
    return changed(request, f"The key {SCHEME}{found.prefix}… works no longer.", to=to, moves_on=True)


def _make(request: HttpRequest, visit: Visit) -> tuple[ApiKey, str]:
    wanted: dict[str, Any] = {
        "name": request.POST.get("name", ""),
        "expires_at": _expiry(request.POST.get("days", "")),
        "scope": _scope(request.POST.get("scope", KeyScope.WRITE)),
    }
    chosen = request.POST.get("agent", "")
    if not chosen:
        return create_user_key(actor=visit.person, user=visit.member.user, **wanted)
    found = Agent.objects.filter(company=visit.company, pk=as_id(chosen)).first()
    if found is None:
        raise Invalid("There is no such agent.", field="agent")
    return create_agent_key(actor=visit.person, agent=found, **wanted)


def _scope(word: str) -> KeyScope:
    if word not in KeyScope.values:
        raise Invalid("Choose what the key may do.", field="scope")
    return KeyScope(word)


def _expiry(days: str) -> datetime.datetime | None:
    if days not in {str(number) for number, _ in LIVES}:
        raise Invalid("Choose how long the key is to live.", field="days")
    return timezone.now() + datetime.timedelta(days=int(days)) if days != "0" else None


def _page(request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None) -> HttpResponse:
    working = ApiKey.objects.filter(revoked_at=None, run=None).order_by("-pk")
    names = Names(visit.company)
    of_agents = working.filter(company=visit.company, agent__isnull=False) if visit.is_owner else ()
    context = {
        "at": reverse("settings", args=[visit.company.slug]),
        "here": "keys",
        "own": list(working.filter(user=visit.member.user)),
        "of_agents": [{"key": key, "agent": names.agents.get(key.agent_id or 0)} for key in of_agents],
        "agents": names.present_agents,
        "lives": LIVES,
        "scopes": KeyScope.choices[::-1],
        "now": timezone.now(),
        "values": request.POST or request.GET,
        "refusal": refusal,
    }
    response = show(request, visit, "settings/keys.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
