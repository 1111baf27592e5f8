"""API keys: made once, shown once, kept as a hash."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from typing import TYPE_CHECKING

from django.utils import timezone

from issues.activity import record
from issues.actors import Actor, Person
from issues.effects import service
from issues.models import ApiKey, KeyScope, User
from issues.policies import Right, require
from issues.refusals import Forbidden
from issues.texts import check_line

if TYPE_CHECKING:
    from agents.models import Agent, Run

SCHEME = "trm_"
_PREFIX_LENGTH = 12
_FORM = re.compile(SCHEME + r"[0-9a-f]{48}")
_LAST_USE_EVERY = datetime.timedelta(minutes=1)
"""How exactly `last_used_at` is kept: a write for each request would make every read a writer."""


@service
def create_user_key(
    *,
    actor: Actor,
    user: User,
    name: str = "",
    expires_at: datetime.datetime | None = None,
    scope: KeyScope = KeyScope.WRITE,
) -> tuple[ApiKey, str]:
    """A key with all the user's rights, or to read alone, and its text, which is shown this once. People make keys for
    themselves."""
    if not isinstance(actor, Person) or actor.user.pk != user.pk:
        raise Forbidden("Keys of a person are made by that person.")
    name = check_line(name, "name", limit=120, required=False)
    return _make(ApiKey(user=user, name=name, expires_at=expires_at, scope=scope))


@service
def create_agent_key(
    *,
    actor: Actor,
    agent: Agent,
    name: str = "",
    expires_at: datetime.datetime | None = None,
    scope: KeyScope = KeyScope.WRITE,
) -> tuple[ApiKey, str]:
    """A key with which an outside agent takes part as this one."""
    require(actor, Right.MANAGE_COMPANY, agent.company)
    key, text = _make(
        ApiKey(
            company=agent.company,
            agent=agent,
            name=check_line(name, "name", limit=120, required=False),
            expires_at=expires_at,
            scope=scope,
        )
    )
    record(actor, "key.created", agent.company, key=key.pk, agent=agent.pk)
    return key, text


@service
def create_run_key(*, run: Run, expires_at: datetime.datetime) -> tuple[ApiKey, str]:
    """A key that acts for one run and dies with it."""
    return _make(ApiKey(company=run.company, agent=run.agent, run=run, expires_at=expires_at))


@service
def revoke_key(*, actor: Actor, key: ApiKey) -> ApiKey:
    """Make the key work no longer. A person's own is theirs to revoke, an agent's the owners'; an operator of the
    installation can revoke any, since a key that leaked cannot wait for its owner."""
    if not _is_operator(actor):
        if key.company is not None:
            require(actor, Right.MANAGE_COMPANY, key.company)
        elif not isinstance(actor, Person) or key.user_id != actor.user.pk:
            raise Forbidden("Keys of a person are revoked by that person.")
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
        if key.company is not None:
            record(actor, "key.revoked", key.company, key=key.pk)
    return key


def find_key(text: str) -> ApiKey | None:
    """The living key of this text, or None: unknown, revoked, expired, or whoever it acts for is gone."""
    if not _FORM.fullmatch(text):
        return None
    prefix = text.removeprefix(SCHEME)[:_PREFIX_LENGTH]
    key = _living(prefix)
    if key is None or not hmac.compare_digest(key.key_hash, _hash(text)):
        return None
    now = timezone.now()
    if not _works(key, now):
        return None
    if key.last_used_at is None or now - key.last_used_at > _LAST_USE_EVERY:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key


def working_keys(ids: Collection[int]) -> set[int]:
    """Which of the keys work now."""
    keys = ApiKey.objects.filter(pk__in=ids, revoked_at=None).select_related("user", "agent", "run")
    long = ("system_message", "user_message", "prompt_sections", "reply")
    now = timezone.now()
    return {key.pk for key in keys.defer(*(f"run__{text}" for text in long)) if _works(key, now)}


def _works(key: ApiKey, now: datetime.datetime) -> bool:
    """Whether a key that was not revoked opens anything."""
    return (key.expires_at is None or key.expires_at > now) and _acts_for_somebody(key)


def _acts_for_somebody(key: ApiKey) -> bool:
    """Whether the user may log in, the agent was not terminated, and the run goes on."""
    if key.user is not None:
        return key.user.is_active
    if key.run is not None and not key.run.is_live:
        return False
    return key.agent is not None and key.agent.is_present


def _living(prefix: str) -> ApiKey | None:
    """The key that is looked up by each call, so read narrowly: people's, the most, in one small query; agents' with
    what they act in, but without the long texts of their runs."""
    found = ApiKey.objects.filter(prefix=prefix, revoked_at=None)
    for key in found.select_related("user")[:1]:
        if key.agent_id is None:
            return key
        return (
            ApiKey.objects.select_related("agent__company", "run__issue__company", "run__chain_member", "company")
            .defer("run__system_message", "run__user_message", "run__prompt_sections", "run__reply")
            .get(pk=key.pk)
        )
    return None


def _is_operator(actor: Actor) -> bool:
    return isinstance(actor, Person) and actor.user.is_active and actor.user.is_superuser


def _make(key: ApiKey) -> tuple[ApiKey, str]:
    body = secrets.token_hex(24)  # 192 random bits; the first 48 are the look-up prefix, 144 stay secret
    text = SCHEME + body
    key.prefix = body[:_PREFIX_LENGTH]
    key.key_hash = _hash(text)
    key.save(force_insert=True)
    return key, text


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
