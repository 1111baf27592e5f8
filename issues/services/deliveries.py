"""Sending to webhooks, as the database sees it: whose turn it is, what is sent next, what became of it.

One worker at a time sends to a webhook. Its turn is a lease: should it die, another takes over once that has expired,
and what was under way is sent again under the same id.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from issues.models import Company, Delivery, DeliveryState, Webhook
from issues.services.webhooks import give_up_on
from issues.webhook_payloads import write_bodies

AT_ONCE = 4
"""Messages under way to one webhook at a time; to one that failed last, one."""

TURN = datetime.timedelta(minutes=2)
"""How long a turn lasts without being renewed: far longer than a round of messages can take."""

FIRST_WAIT, LONGEST_WAIT = datetime.timedelta(seconds=10), datetime.timedelta(hours=1)
"""Until the next try, doubled with each."""

MOST_DOUBLED = 9

LONGEST = datetime.timedelta(days=1)
"""For so long a message is tried, and a webhook may fail, until it is given up."""

NO_BODY = "Trimus could not write this message; its log says why."

GONE = 410
"""The answer by which a receiver says that it wants no more, for good."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one try. `error` is empty where the receiver took the message; `retry_after` is in seconds."""

    delivery: Delivery
    milliseconds: int
    status_code: int | None = None
    error: str = ""
    retry_after: float | None = None


def take_turns(most: int) -> list[Webhook]:
    """Webhooks with something to send that nobody sends to at the moment: taken by whoever called, at most so many.
    Those that were not tried for longest come first."""
    now = timezone.now()
    due = Delivery.objects.filter(webhook=OuterRef("pk"), state=DeliveryState.PENDING, due_at__lte=now)
    rows = _free(now).filter(Exists(due), enabled=True).select_related("company")
    taken = []
    for webhook in rows.order_by(F("turn_until").asc(nulls_first=True), "pk")[:most]:
        webhook.turn = secrets.token_hex(16)
        if _free(now).filter(pk=webhook.pk).update(turn=webhook.turn, turn_until=now + TURN):
            taken.append(webhook)
    return taken


def next_round(webhook: Webhook) -> list[Delivery]:
    """What is sent to it next, each with its body; nothing if that is all, or the turn is over. Renews the turn."""
    now = timezone.now()
    with transaction.atomic():
        if not _mine(webhook).filter(enabled=True).update(turn_until=now + TURN):
            return []
        held = Webhook.objects.select_related("company").get(pk=webhook.pk)
        if held.held_until is not None and held.held_until > now:
            return []
        due = held.deliveries.filter(state=DeliveryState.PENDING, due_at__lte=now).select_related("activity__issue")
        deliveries = list(
            due.defer("activity__issue__description").order_by("due_at", "pk")[: 1 if held.failures else AT_ONCE]
        )
        new = [delivery for delivery in deliveries if not delivery.body]
        if new:
            broken = write_bodies(held.company, new)
            for delivery in broken:
                delivery.state, delivery.ended_at, delivery.error = DeliveryState.FAILED, now, NO_BODY
            Delivery.objects.bulk_update(new, ["body", "state", "ended_at", "error"])
        for delivery in deliveries:
            delivery.webhook = held
    return [delivery for delivery in deliveries if delivery.state == DeliveryState.PENDING]


def note_answers(webhook: Webhook, answers: Sequence[Answer]) -> bool:
    """Write down what became of a round; whether it can go on at once."""
    now = timezone.now()
    with transaction.atomic():
        rows = Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("company")
        held = rows.filter(pk=webhook.pk).first()
        if held is None:
            return False
        for answer in answers:
            _note(answer, now)
        has_failed = all(answer.error for answer in answers)
        if has_failed:
            held.failures += 1
            held.failing_since = held.failing_since or now
            held.held_until = now + max(_wait(held.failures), _asked_wait(answers))
        else:
            held.failures, held.failing_since, held.held_until = 0, None, None
        held.save(update_fields=["failures", "failing_since", "held_until"])
    if why := _why_hopeless(held, answers, now):
        give_up_on(held, why, for_good=_is_gone(answers))
    return not has_failed


def end_turn(webhook: Webhook) -> None:
    """Let others send to it. `turn_until` stays: it says when it was last tried."""
    _mine(webhook).update(turn="", turn_until=timezone.now())


def drop_old(company: Company, before: datetime.datetime, most: int) -> None:
    """Forget messages that ended before then, so many at most."""
    old = Delivery.objects.filter(webhook__company=company, ended_at__lt=before).order_by("pk")
    Delivery.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:most])).delete()


def _free(now: datetime.datetime) -> QuerySet[Webhook]:
    is_held = Q(held_until__gt=now)
    is_taken = ~Q(turn="") & Q(turn_until__gt=now)
    return Webhook.objects.exclude(is_held).exclude(is_taken)


def _mine(webhook: Webhook) -> QuerySet[Webhook]:
    return Webhook.objects.filter(pk=webhook.pk, turn=webhook.turn)


def _note(answer: Answer, now: datetime.datetime) -> None:
    delivery = answer.delivery
    changes = {
        "tries": F("tries") + 1,
        "tried_at": now,
        "status_code": answer.status_code,
        "milliseconds": answer.milliseconds,
        "error": answer.error[:300],
    }
    if not answer.error:
        changes |= {"state": DeliveryState.DELIVERED, "ended_at": now}
    elif delivery.created_at < now - LONGEST:
        changes |= {"state": DeliveryState.FAILED, "ended_at": now}
    else:
        changes |= {"due_at": now + max(_wait(delivery.tries + 1), _asked_wait([answer]))}
    Delivery.objects.filter(pk=delivery.pk, state=DeliveryState.PENDING).update(**changes)


def _wait(failures: int) -> datetime.timedelta:
    times: int = 2 ** min(failures - 1, MOST_DOUBLED)
    return min(FIRST_WAIT * times, LONGEST_WAIT)


def _asked_wait(answers: Sequence[Answer]) -> datetime.timedelta:
    """How long the receiver asked to be left alone: no longer than we would wait at all."""
    seconds = max((answer.retry_after or 0.0 for answer in answers), default=0.0)
    return min(datetime.timedelta(seconds=max(seconds, 0.0)), LONGEST_WAIT)


def _is_gone(answers: Sequence[Answer]) -> bool:
    return any(answer.status_code == GONE for answer in answers)


def _why_hopeless(webhook: Webhook, answers: Sequence[Answer], now: datetime.datetime) -> str:
    """Why nothing more is sent to it; empty if it has not failed for long enough."""
    if _is_gone(answers):
        return "Its receiver answered 410 Gone: it wants no more."
    if webhook.failing_since is not None and webhook.failing_since <= now - LONGEST:
        return f"It has failed for a day. Last: {answers[-1].error}"
    return ""
