"""Hooks in: owners set them up, and other programs open issues by them.

What a hook does is done by Trimus itself, since nobody is logged in: the issue names the hook as its author, its
wakeups are no person's, so they count in every limit, and what came in calls nobody by an @.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from issues.activity import record
from issues.actors import SYSTEM, Actor
from issues.effects import service
from issues.fields import check_fields
from issues.hook_templates import check_template, fill, value_of
from issues.models import Company, Hook, HookCall, Label, Member, Priority, Project
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden, Invalid, NotFound, TooOften
from issues.services.issues import TITLE_CHARACTERS, create_issue
from issues.services.locks import lock_company
from issues.services.mentions import Mentioned, mentioned_in
from issues.texts import TEXT_BYTES, check_line, check_text

if TYPE_CHECKING:
    from agents.models import Agent

    Assignee = Agent | Member | None

MOST_HOOKS = 50
SCHEME = "trh_"
CALLS_KEPT = datetime.timedelta(days=30)
"""For so long a call that comes again under its name opens nothing."""

HOUR = datetime.timedelta(hours=1)
_PREFIX_LENGTH = 12
_TOKEN = re.compile(SCHEME + r"[0-9a-f]{48}")
_PLAIN = ("priority", "project", "id_field", "per_hour")


@dataclass(frozen=True, slots=True)
class Opened:
    """The issue that a call opened; `again` if an earlier call of that name did."""

    identifier: str
    again: bool = False


@service
def add_hook(
    *,
    actor: Actor,
    company: Company,
    name: str,
    title: str,
    description: str = "",
    priority: Priority = Priority.NONE,
    project: Project | None = None,
    labels: Sequence[Label] = (),
    assignee: Assignee = None,
    id_field: str = "",
    per_hour: int = 60,
) -> tuple[Hook, str]:
    """An address that opens issues, and its token, shown this once. Its maker answers for them. Owners only."""
    member = require(actor, Right.MANAGE_COMPANY, company)
    if member is None:
        raise Forbidden("A hook needs a person who answers for its issues.")
    company = lock_company(company)
    if company.hooks.filter(removed_at=None).count() >= MOST_HOOKS:
        raise Conflict(f"A company has at most {MOST_HOOKS} hooks.")
    hook = Hook(company=company, responsible=member)
    fields = {
        "name": name,
        "title": title,
        "description": description,
        "priority": priority,
        "project": project,
        "assignee": assignee,
        "id_field": id_field,
        "per_hour": per_hour,
    }
    _set_fields(hook, fields)
    token = _new_token(hook)
    hook.save(force_insert=True)
    hook.labels.set(_of_company(company, labels))
    record(actor, "hook.added", company, hook=hook.pk, name=hook.name)
    return hook, token


@service
def edit_hook(*, actor: Actor, hook: Hook, labels: Sequence[Label] | None = None, **fields: Any) -> Hook:
    """Change its name, its template or its limit."""
    hook = _lock(actor, hook)
    before = _facts(hook)
    _set_fields(hook, fields)
    hook.save()
    if labels is not None:
        hook.labels.set(_of_company(hook.company, labels))
    if _facts(hook) != before:
        record(actor, "hook.edited", hook.company, hook=hook.pk, name=hook.name)
    return hook


@service
def switch_hook(*, actor: Actor, hook: Hook, on: bool) -> Hook:
    """Turn it on or off; while it is off it opens nothing."""
    hook = _lock(actor, hook)
    if hook.enabled != on:
        hook.enabled = on
        hook.save(update_fields=["enabled"])
        record(actor, "hook.switched", hook.company, hook=hook.pk, name=hook.name, on=on)
    return hook


@service
def rotate_token(*, actor: Actor, hook: Hook) -> tuple[Hook, str]:
    """A new address, whose token is shown this once. The old one works no longer."""
    hook = _lock(actor, hook)
    token = _new_token(hook)
    hook.save(update_fields=["prefix", "token_hash"])
    record(actor, "hook.rotated", hook.company, hook=hook.pk, name=hook.name)
    return hook, token


@service
def remove_hook(*, actor: Actor, hook: Hook) -> None:
    """Its address works no longer. What it opened stays, and names it."""
    hook = _lock(actor, hook)
    hook.enabled, hook.removed_at = False, timezone.now()
    hook.save(update_fields=["enabled", "removed_at"])
    record(actor, "hook.removed", hook.company, hook=hook.pk, name=hook.name)


def find_hook(token: str) -> Hook:
    """The hook of that token. NotFound for none, for one that was removed, and for an old token."""
    found = None
    if _TOKEN.fullmatch(token):
        prefix = token.removeprefix(SCHEME)[:_PREFIX_LENGTH]
        found = Hook.objects.select_related("company").filter(prefix=prefix, removed_at=None).first()
    if found is None or not hmac.compare_digest(found.token_hash, _hash(token)):
        raise NotFound("There is no such hook.")
    return found


def open_by_hook(*, token: str, data: Any, key: str = "") -> Opened:
    """Open an issue with what came in; `key` is the name of the call, if it has one.

    NotFound for no such hook, Forbidden while it is off, TooOften over its limit. A call that comes again under its
    name within thirty days opens nothing.
    """
    hook = find_hook(token)
    _check_may_open(hook)
    named = f"key {key}" if key else ""
    if not named and hook.id_field and (value := value_of(data, hook.id_field)):
        named = f"field {value}"
    key_hash = _hash(named) if named else ""
    if (earlier := _earlier(hook, key_hash)) is not None:
        return earlier
    if wait := _seconds_to_wait(hook):  # looked at before anything is locked: who calls too often holds up nobody
        raise _too_often(wait)
    return open_of_hook(hook, data, key_hash)


@service
def open_of_hook(hook: Hook, data: Any, key_hash: str) -> Opened:
    """The same, of a hook that was found: company and hook are held from the look for an earlier call to the commit."""
    company = lock_company(hook.company)
    hook = _held(company, hook)
    _check_may_open(hook)
    if (earlier := _earlier(hook, key_hash)) is not None:
        return earlier
    if wait := _seconds_to_wait(hook):
        raise _too_often(wait)
    title, description = _filled(hook, data)
    assignee = hook.assignee_agent or hook.assignee_member
    issue = create_issue(
        actor=SYSTEM,
        company=company,
        title=title,
        description=description,
        priority=Priority(hook.priority),
        project=hook.project,
        labels=list(hook.labels.all()),
        assignee=assignee if assignee is not None and assignee.is_present else None,
        responsible=hook.responsible if hook.responsible.is_present else None,
        hook=hook,
        without=_called_from_outside(company, description, hook.description),
    )
    HookCall.objects.filter(hook=hook, key_hash=key_hash, made_at__lt=timezone.now() - CALLS_KEPT).delete()
    HookCall.objects.create(hook=hook, key_hash=key_hash, identifier=issue.identifier)
    _count(hook)
    return Opened(issue.identifier)


def _filled(hook: Hook, data: Any) -> tuple[str, str]:
    """Title and description, no longer than they may be: what came in is cut, never refused."""
    title = " ".join(fill(hook.title, data).split()) or hook.name
    if len(title) > TITLE_CHARACTERS:
        title = title[: TITLE_CHARACTERS - 1] + "…"
    description = fill(hook.description, data).encode()
    if len(description) > TEXT_BYTES:
        description = description[: TEXT_BYTES - len("…".encode())] + "…".encode()
    return title, description.decode(errors="ignore")


def _called_from_outside(company: Company, description: str, template: str) -> list[str]:
    """Handles that only what came in names: a stranger calls nobody."""
    called, ours = (_handles(mentioned_in(company, text)) for text in (description, template))
    return sorted(called - ours)


def _handles(mentioned: Mentioned) -> set[str]:
    return {agent.handle for agent in mentioned.agents} | {member.handle for member in mentioned.members}


def _check_may_open(hook: Hook) -> None:
    if not hook.enabled:
        raise Forbidden("This hook is off.", "An owner can turn it on in the settings.")


def _earlier(hook: Hook, key_hash: str) -> Opened | None:
    if not key_hash:
        return None
    since = timezone.now() - CALLS_KEPT
    call = hook.calls.filter(key_hash=key_hash, made_at__gte=since).first()
    return Opened(call.identifier, again=True) if call is not None else None


def _seconds_to_wait(hook: Hook) -> int:
    """Until the hour is over in which it has opened as many as it may; else 0."""
    if hook.hour_began_at is None or hook.opened_in_hour < hook.per_hour:
        return 0
    left = hook.hour_began_at + HOUR - timezone.now()
    return min(max(math.ceil(left.total_seconds()), 0), round(HOUR.total_seconds()))


def _too_often(seconds: int) -> TooOften:
    return TooOften("This hook has opened as many issues as it may in an hour.", seconds=seconds)


def _count(hook: Hook) -> None:
    now = timezone.now()
    if hook.hour_began_at is None or not hook.hour_began_at <= now < hook.hour_began_at + HOUR:
        hook.hour_began_at, hook.opened_in_hour = now, 0
    hook.opened_in_hour += 1
    hook.opened += 1
    hook.last_used_at = now
    hook.save(update_fields=["hour_began_at", "opened_in_hour", "opened", "last_used_at"])


def _set_fields(hook: Hook, fields: dict[str, Any]) -> None:
    for field, value in fields.items():
        if field == "name":
            hook.name = check_line(value, "name", limit=120)
        elif field == "title":
            hook.title = check_template(check_line(value, "title", limit=TITLE_CHARACTERS), "title")
        elif field == "description":
            hook.description = check_template(check_text(value, "description"), "description")
        elif field == "assignee":
            _of_company(hook.company, [value] if value is not None else [])
            hook.assignee_member = value if isinstance(value, Member) else None
            hook.assignee_agent = None if isinstance(value, Member) else value
        elif field in _PLAIN:
            setattr(hook, field, check_line(value, field, limit=200, required=False) if field == "id_field" else value)
        else:
            raise Invalid(f"A hook has no “{field}”.", field=field)
    if hook.project is not None:
        _of_company(hook.company, [hook.project])
    if hook.priority not in Priority.values:
        raise Invalid("There is no such priority.", field="priority")
    check_fields(hook, ["per_hour"])


def _of_company(company: Company, things: Sequence[Any]) -> Sequence[Any]:
    """Them, unless one belongs to another company, or has left (Invalid)."""
    for thing in things:
        if thing.company_id != company.pk:
            raise Invalid("That belongs to another company.")
        if not getattr(thing, "is_present", True):
            raise Invalid(f"@{thing.handle} is no longer here.", field="assignee")
    return things


def _facts(hook: Hook) -> tuple[Any, ...]:
    values = (getattr(hook, field.attname) for field in hook._meta.concrete_fields)
    return (*values, *sorted(hook.labels.values_list("pk", flat=True)))


def _lock(actor: Actor, hook: Hook) -> Hook:
    require(actor, Right.MANAGE_COMPANY, hook.company)
    return _held(lock_company(hook.company), hook)


def _held(company: Company, hook: Hook) -> Hook:
    related = ("project", "assignee_agent", "assignee_member", "responsible")
    rows = Hook.objects.select_for_update(of=("self",), no_key=True).select_related(*related)
    held = rows.filter(company=company, pk=hook.pk, removed_at=None).first()
    if held is None:
        raise NotFound("There is no such hook.")
    held.company = company
    return held


def _new_token(hook: Hook) -> str:
    body = secrets.token_hex(24)  # 192 random bits; the first 48 are the look-up prefix, 144 stay secret
    hook.prefix, hook.token_hash = body[:_PREFIX_LENGTH], _hash(SCHEME + body)
    return SCHEME + body


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
