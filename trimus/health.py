"""Whether this web process can answer, for supervisors and load balancers; whether work goes on, for monitors."""

from __future__ import annotations

import threading
import time
from http import HTTPStatus

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from engine.diagnosis import PULSE_IS_OLD, WAITS_TOO_LONG
from engine.vitals import read_vitals

LOOK_SECONDS = 5.0
"""How old an answer about the broker may be: anybody may ask, and each look connects to it."""

_looking = threading.Lock()
_broker_seen: tuple[float, bool] | None = None


def health(_request: HttpRequest) -> HttpResponse:
    """200 once the process serves and reaches its database; says nothing else, and needs no log-in."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def work_health(_request: HttpRequest) -> HttpResponse:
    """200 while the work goes on, 503 with what is wrong: beat or worker not seen for a while, the broker away, or work
    that nobody takes. No log-in is needed, and no company's affairs are told."""
    vitals = read_vitals()
    is_beating = vitals.beat_seconds is not None and vitals.beat_seconds < PULSE_IS_OLD.total_seconds()
    is_taken = (vitals.oldest_due_seconds or 0.0) < WAITS_TOO_LONG.total_seconds()
    has_broker = _broker_answers()
    told = {
        "status": "ok" if is_beating and is_taken and has_broker else "ailing",
        "database": "ok",  # else there were no answer
        "broker": "ok" if has_broker else "away",
        "beat_seconds": _rounded(vitals.beat_seconds),
        "oldest_due_seconds": _rounded(vitals.oldest_due_seconds),
    }
    return JsonResponse(told, status=HTTPStatus.OK if told["status"] == "ok" else HTTPStatus.SERVICE_UNAVAILABLE)


def _broker_answers() -> bool:
    global _broker_seen
    with _looking:
        if _broker_seen is None or time.monotonic() - _broker_seen[0] > LOOK_SECONDS:
            _broker_seen = (time.monotonic(), _connects())
        return _broker_seen[1]


def _connects() -> bool:
    from trimus.celery import app

    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=settings.BROKER_TIMEOUT_SECONDS)
    except Exception:  # each client raises its own
        return False
    return True


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
