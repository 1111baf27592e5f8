"""A clock that is set back puts nothing off: what waits for a moment keeps its wait, without the hour on top."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.db.models import F
from django.utils import timezone

from agents.models import Agent, Pulse, Wakeup, WakeupState
from issues.effects import unit
from issues.models import Delivery, DeliveryState, Webhook

log = structlog.get_logger(__name__)

CLOCKS_DIFFER = timedelta(minutes=1)
"""The clocks of several hosts may be apart by this; what is due waits no longer than that for the slower one."""


def follow_clock() -> None:
    """If the last tick lies in the future, the clock was set back since. Routines stay as they are, for they go by the
    clock on the wall, and what they did for an hour that comes twice they do not do again."""
    now = timezone.now()
    last = Pulse.objects.filter(name="tick", felt_at__gt=now + CLOCKS_DIFFER).first()
    if last is None:
        return
    back = last.felt_at - now
    with unit():
        # By compare-and-set: two sweeps at once would take it off twice.
        if not Pulse.objects.filter(pk=last.pk, felt_at=last.felt_at).update(felt_at=now):
            return
        Wakeup.objects.filter(state=WakeupState.PENDING, due_at__gt=now).update(due_at=F("due_at") - back)
        Webhook.objects.filter(held_until__gt=now).update(held_until=F("held_until") - back)
        Delivery.objects.filter(state=DeliveryState.PENDING, due_at__gt=now).update(due_at=F("due_at") - back)
        Agent.objects.filter(next_schedule_at__gt=now).update(next_schedule_at=F("next_schedule_at") - back)
    log.warning("clock.set_back", seconds=round(back.total_seconds()))
