"""What is wrong with a provider just now, in words."""

from __future__ import annotations

import datetime

from agents.adapters.base import ErrorKind
from agents.models import Breaker
from agents.services.breakers import IN_WORDS, Called
from engine.routing import Route


def why_closed(breaker: Breaker, route: Route, now: datetime.datetime) -> str:
    """Why nobody asks it at present, and until when. What a shared provider answered to another company is not
    repeated."""
    words = IN_WORDS[ErrorKind(breaker.error_kind)]
    if breaker.open_until is not None and breaker.open_until <= now:
        return f"{route.name} {words}; one run tries it now."
    said = f" ({breaker.error})" if route.own_of is not None else ""
    return f"{route.name} {words}{said}; it is tried again at {breaker.open_until:%H:%M} UTC."


def called(route: Route) -> Called:
    """What a call by this route calls."""
    return Called(route.key, route.name, route.endpoint.host, route.own_of)
