"""Accounts and one-time log-in links."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone

from issues.actors import Person
from issues.effects import service
from issues.models import LoginLink, User
from issues.refusals import Conflict, Invalid
from issues.services.companies import check_time_zone
from issues.texts import check_line

LINK_LIFE = timedelta(hours=12)


@service
def create_user(*, username: str, name: str = "", email: str = "", password: str | None = None) -> User:
    """An account. Without a password it can only be entered by a log-in link."""
    username = check_line(username, "user name", limit=150)
    if User.objects.filter(username__iexact=username).exists():
        raise Conflict(f"There is an account “{username}” already.")
    user = User(username=username, name=check_line(name, "name", limit=120, required=False), email=email)
    user.set_password(password)
    user.save()
    return user


@service
def installation_founder() -> User:
    """Whom the one-command start logs in: the first administrator, made when there is none."""
    founder = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if founder is None:
        founder = create_user(username="founder", name="Founder")
        founder.is_staff = founder.is_superuser = True
        founder.save(update_fields=["is_staff", "is_superuser"])
    return founder


@service
def issue_login_link(user: User) -> str:
    """A fresh one-time token for the user (256 random bits), good for 12 hours. Only its hash is kept."""
    token = secrets.token_urlsafe(32)
    LoginLink.objects.create(user=user, token_hash=_hash(token), expires_at=timezone.now() + LINK_LIFE)
    return token


@service
def use_login_link(token: str) -> User:
    """The user of the link, which is spent by this. Invalid if it is unknown, old or spent."""
    now = timezone.now()
    # Without a join: what is joined goes into a subquery, which PostgreSQL does not look at again after a wait.
    active = User.objects.filter(is_active=True)
    links = LoginLink.objects.filter(token_hash=_hash(token), used_at=None, expires_at__gt=now, user__in=active)
    if not links.update(used_at=now):
        raise Invalid("This log-in link is unknown, too old or already used.", "Ask for a fresh one.")
    return LoginLink.objects.select_related("user").get(token_hash=_hash(token)).user


@service
def change_profile(*, actor: Person, name: str, time_zone: str) -> User:
    """The person's own name, as it stands beside what they write, and the zone that they see times in."""
    user = actor.user
    user.name = check_line(name, "name", limit=120, required=False)
    user.time_zone = check_time_zone(time_zone)
    user.save(update_fields=["name", "time_zone"])
    return user


@service
def change_password(*, actor: Person, current: str, new: str) -> User:
    """The person's own password. The current one is asked for, unless they have none yet and came by a link."""
    user = actor.user
    if user.has_usable_password() and not user.check_password(current):
        raise Invalid("That is not your current password.", field="current")
    try:
        validate_password(new, user)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), field="new") from None
    user.set_password(new)
    user.save(update_fields=["password"])
    return user


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
