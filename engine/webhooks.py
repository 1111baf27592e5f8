"""Sending to webhooks: each that is due has a thread of a few, so that a slow receiver holds up nobody else. No
transaction and no connection to the database is held while a receiver is waited for."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

import structlog

from engine.posting import post_all
from engine.turns import database_turn
from issues.models import Webhook
from issues.services.deliveries import Answer, end_turn, next_round, note_answers, take_turns
from trimus.outages import why_out

log = structlog.get_logger(__name__)

COURIERS = 8
"""Webhooks of one process that are sent to at the same time."""

SECONDS_OF_A_TURN = 30.0
"""After so long a busy webhook is let go, so that others have their turn."""


class Couriers:
    """The threads that send. `is_ending` says whether the process was told to end: a round under way is seen through,
    no other is begun."""

    def __init__(self, count: int, executor: Executor, is_ending: Callable[[], bool]) -> None:
        self._free = count
        self._counting = threading.Lock()
        self._executor = executor
        self._is_ending = is_ending

    def send_due(self) -> None:
        """Send to as many as there are threads for. Returns when they have begun."""
        with self._counting:
            free, self._free = self._free, 0  # two ticks at once would else count the same threads
        webhooks: list[Webhook] = []
        try:
            if free and not self._is_ending():
                with database_turn():
                    webhooks = take_turns(free)
        finally:
            self._give(free - len(webhooks))
        for webhook in webhooks:
            self._executor.submit(self._do, webhook)

    def _do(self, webhook: Webhook) -> None:
        try:
            self._serve(webhook)
        except Exception as error:  # nobody asks how it ended: its turn expires, and the tick comes by
            if why := why_out(error):
                log.warning("webhook.broken_off", why=why, error=str(error))
            else:
                log.exception("webhook.failed")
        finally:
            self._give(1)

    def _serve(self, webhook: Webhook) -> None:
        until = time.monotonic() + SECONDS_OF_A_TURN
        while not self._is_ending() and time.monotonic() < until:
            with database_turn():
                deliveries = next_round(webhook)
            if not deliveries:
                break
            answers = asyncio.run(post_all(deliveries))
            with database_turn():
                goes_on = note_answers(webhook, answers)
            _log(webhook, answers)
            if not goes_on:
                break
        with database_turn():
            end_turn(webhook)

    def _give(self, count: int) -> None:
        with self._counting:
            self._free += count


def _log(webhook: Webhook, answers: Sequence[Answer]) -> None:
    errors = [answer.error for answer in answers if answer.error]
    if errors:
        log.warning("webhook.refused", webhook=webhook.pk, messages=len(errors), error=errors[-1])


def _is_ending() -> bool:
    from engine.slots import slots

    return slots.is_closed


couriers = Couriers(COURIERS, ThreadPoolExecutor(COURIERS, thread_name_prefix="courier"), _is_ending)
