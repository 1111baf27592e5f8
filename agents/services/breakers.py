"""Circuit breakers: an address and a credential that fail are left alone for a while, by every worker.

After two failures in a row of the network or the server, for 5 minutes; after one of the credential or the bill, for
30. Then one call may try, the probe: it is taken by compare-and-set, so of all workers one has it, and one that dies
with it does not keep it. An answer deletes the row.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import Breaker, Run
from agents.models.run import LIVE
from agents.services.wakeups import look_again
from issues.activity import record
from issues.actors import Actor
from issues.effects import service
from issues.models import Company, InboxKind
from issues.policies import Right, require
from issues.services.inbox import tell_board
from trimus.masking import mask

FAILURES = 2
"""In a row, of the network or the server, until it is left alone."""

PAUSES = {
    ErrorKind.NETWORK: datetime.timedelta(minutes=5),
    ErrorKind.OVERLOADED: datetime.timedelta(minutes=5),
    ErrorKind.AUTH: datetime.timedelta(minutes=30),
}
"""How long, by what went wrong. Other failures are the request's and say nothing of the provider."""

IN_WORDS = {
    ErrorKind.NETWORK: "does not answer",
    ErrorKind.OVERLOADED: "is overloaded or broken",
    ErrorKind.AUTH: "does not take the key, or its bill is not paid",
}


@dataclass(frozen=True, slots=True)
class Called:
    """What was called: the key of its breaker, its name and host, and the company whose own it is, if so."""

    key: str
    provider: str
    host: str
    own_of: int | None = None


def troubled(keys: Collection[str]) -> dict[str, Breaker]:
    """The breakers of those that failed lately, by key. Those that answer have none."""
    wanted = [key for key in keys if key]
    rows = Breaker.objects.select_related("probe_run").defer(*(f"probe_run__{text}" for text in _TEXTS))
    found = rows.in_bulk(wanted) if wanted else {}
    _seen.update(found)
    return found


def closed_until(breaker: Breaker, now: datetime.datetime) -> datetime.datetime | None:
    """Until when nobody may call it; None if one may, be it as the probe. While a probe is under way nobody else may,
    for as long as that can take."""
    if breaker.open_until is None:
        return None
    if breaker.open_until > now:
        return breaker.open_until
    return breaker.probe_until if _is_probed(breaker, now) else None


def take_probe(key: str, *, run: Run | None, until: datetime.datetime) -> bool:
    """Be the one call that tries, until then at most. False if another one is, or it is not time yet."""
    now = timezone.now()
    due = Breaker.objects.filter(pk=key, open_until__lte=now)
    over = Q(probe_until=None) | Q(probe_until__lte=now) | Q(probe_run__in=Run.objects.exclude(state__in=LIVE))
    return bool(due.filter(over).update(probe_until=until, probe_run=run))


def note_answer(key: str) -> None:
    """It answers: all is well. Costs nothing where nothing was known against it when it was chosen."""
    if key in _seen:
        Breaker.objects.filter(pk=key).delete()
        _seen.discard(key)


@service
def note_failure(company: Company, called: Called, error: AdapterError) -> None:
    """A call failed for good. Its company's board is told when that opens the breaker."""
    pause = PAUSES.get(error.kind)
    if pause is None or not called.key:
        return
    now = timezone.now()
    breaker, _ = Breaker.objects.get_or_create(
        pk=called.key,
        defaults={"company_id": called.own_of, "provider": called.provider, "host": called.host, "failed_at": now},
    )
    breaker = Breaker.objects.select_for_update().get(pk=called.key)
    _seen.add(called.key)
    was_open = breaker.open_until is not None
    breaker.failures += 1
    breaker.error_kind, breaker.error, breaker.failed_at = error.kind.value, mask(error.message), now
    if breaker.open_until is not None and breaker.open_until > now:
        breaker.save()  # a call that was under way when it opened: that is known already
        return
    if was_open or error.kind is ErrorKind.AUTH or breaker.failures >= FAILURES:
        wait = max(pause, datetime.timedelta(seconds=error.retry_after or 0))
        breaker.open_until, breaker.probe_until, breaker.probe_run = now + wait, None, None
    breaker.save()
    if breaker.open_until is not None and not was_open:
        minutes = round((breaker.open_until - now).total_seconds() / 60)
        text = f"{called.provider} {IN_WORDS[error.kind]} and is left alone for {minutes} minutes. {breaker.error}"
        tell_board(InboxKind.FAILURE, text, company=company)


@service
def reset_breaker(*, actor: Actor, company: Company, key: str, provider: str) -> None:
    """Let it be asked again at once, because a person knows that it is mended. What waits is looked at again."""
    require(actor, Right.MANAGE_AGENTS, company)
    look_again(company)  # wakeups before breakers: the order of claims
    Breaker.objects.filter(pk=key).delete()
    record(actor, "provider.reset", company, provider=provider)


def _is_probed(breaker: Breaker, now: datetime.datetime) -> bool:
    if breaker.probe_until is None or breaker.probe_until <= now:
        return False
    return breaker.probe_run is None or breaker.probe_run.is_live


_TEXTS = ("system_message", "user_message", "prompt_sections", "reply")

_seen: set[str] = set()
"""Keys of which this process has seen a row. A process that calls has looked before: so an answer costs a statement
only where there is a row to delete. A failure that another one notes meanwhile stands, as it came later."""
