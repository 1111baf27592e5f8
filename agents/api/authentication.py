"""Who calls: a person or an agent by a bearer key, or a person by the browser's session."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from agents.models import Adapter, Agent, AgentStatus, Run
from agents.services.agents import worker_for
from agents.services.runs import EXTERNAL_LEASE, touch_external
from issues.actors import Actor, Person, Worker
from issues.models import KeyScope, User
from issues.refusals import Forbidden
from issues.rest.rates import count_as
from issues.services.keys import find_key

RENEW_AFTER = EXTERNAL_LEASE / 15
"""A checkout is renewed by calls at least so far apart: not every read shall be a write."""

Credentials = tuple[User | AnonymousUser, Actor]


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer trm_...`. Keys are taken from nowhere else: addresses end up in logs."""

    def authenticate(self, request: Request) -> Credentials | None:
        header = request.headers.get("Authorization", "")
        if not header:
            return None
        scheme, _, text = header.partition(" ")
        text = text.strip()
        if scheme.lower() != "bearer" or not text.isascii() or not text.isprintable():
            raise AuthenticationFailed("Authorization is not a bearer key.")
        key = find_key(text)
        if key is None:
            raise AuthenticationFailed("This key is unknown, has expired, or was revoked.")
        if key.scope == KeyScope.READ and request.method not in SAFE_METHODS:
            raise Forbidden("This key only reads.", "Make one that writes, too.")
        count_as(request, key=key.pk)
        if key.user is not None:
            if not key.user.is_active:
                raise AuthenticationFailed("This account is closed.")
            return key.user, Person(key.user)
        assert key.agent is not None  # noqa: S101 - a constraint of the table
        return AnonymousUser(), _worker(key.agent, key.run, request)

    def authenticate_header(self, _request: Request) -> str:
        return 'Bearer realm="Trimus"'


class BrowserAuthentication(SessionAuthentication):
    """The session of somebody logged in to the board, with its token against foreign forms."""

    def authenticate(self, request: Request) -> Credentials | None:
        found = super().authenticate(request)
        if found is None:
            return None
        user = found[0]
        assert isinstance(user, User)  # noqa: S101 - there is one model of users
        count_as(request, user=user.pk)
        return user, Person(user)


class KeyScheme(OpenApiAuthenticationExtension):
    target_class = KeyAuthentication
    name = "key"

    def get_security_definition(self, _auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A key: `trm_...`."}


class BrowserScheme(OpenApiAuthenticationExtension):
    target_class = BrowserAuthentication
    name = "session"

    def get_security_definition(self, _auto_schema: object) -> dict[str, str]:
        from django.conf import settings

        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


def _worker(agent: Agent, run: Run | None, request: Request) -> Worker:
    """The agent as an actor: in the run of its key, else in the checkout it holds."""
    if agent.status == AgentStatus.TERMINATED:
        raise AuthenticationFailed(f"@{agent.handle} was terminated.")
    if not agent.is_active and request.method not in SAFE_METHODS:
        raise Forbidden(f"@{agent.handle} is {agent.get_status_display().lower()}.", "The board can resume it.")
    return worker_for(agent, run or _checkout(agent, request))


def _checkout(agent: Agent, request: Request) -> Run | None:
    """The agent's own checkout: the one of the issue that it speaks of, else the newest. The call renews them all."""
    held = list(
        agent.runs.live()
        .filter(adapter=Adapter.EXTERNAL)
        .select_related("issue__company", "chain_member")
        .defer("system_message", "user_message", "reply")
        .order_by("-pk")
    )
    now = timezone.now()
    for run in held:
        if run.deadline_at - now < EXTERNAL_LEASE - RENEW_AFTER:
            touch_external(run)
    parts = (request.parser_context or {}).get("kwargs", {})
    spoken_of = str(parts.get("identifier", "")).upper()
    at_hand = (run for run in held if run.issue is not None and run.issue.identifier == spoken_of)
    return next(at_hand, held[0] if held else None)
