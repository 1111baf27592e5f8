"""A cookie that says who is logged in: an open page sees by it whether that is still the person it was made for.

It proves nothing and opens nothing: the session does.
"""

from __future__ import annotations

from typing import TypeVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpResponseBase

COOKIE = settings.SESSION_COOKIE_NAME.replace("session", "who")

Response = TypeVar("Response", bound=HttpResponseBase)


def keep_who(response: Response, user: AbstractBaseUser) -> Response:
    """The answer to a log-in, with the cookie."""
    response.set_cookie(
        COOKIE, user.pk, max_age=settings.SESSION_COOKIE_AGE, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
    )
    return response


def who_of(user_id: int) -> str:
    """The cookie of that person, as scripts see it among others."""
    return f"{COOKIE}={user_id}"
