"""Calls that may be sent again without doing again what they did."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from http import HTTPStatus

from django.db import IntegrityError
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from issues.actors import Actor, Person, Worker
from issues.effects import savepoint, service
from issues.models import KeptAnswer
from issues.models.kept_answer import ANSWERS_KEPT
from issues.refusals import Invalid

HEADER = "Idempotency-Key"


def answer_once(request: Request, actor: Actor, answer: Callable[[], Response]) -> Response:
    """The answer, or the first one if the caller sent this call before, within a day.

    The answer is kept in the transaction of what the call makes. So a call that was cut off has either done all of it,
    and is answered as then, or nothing; and of two at once the second waits for the first. A refused call makes
    nothing and is not kept. Invalid when the key was used for another call.
    """
    key = request.headers[HEADER].strip()
    if not key or len(key) > 200 or not key.isascii() or not key.isprintable():
        raise Invalid("An idempotency key has 1 to 200 visible characters.", field=HEADER)
    return _answer(_caller(actor), key, _hash(request), answer)


@service
def _answer(caller: str, key: str, call_hash: str, answer: Callable[[], Response]) -> Response:
    KeptAnswer.objects.filter(caller=caller, key=key, made_at__lt=timezone.now() - ANSWERS_KEPT).delete()
    try:
        with savepoint():
            kept = KeptAnswer.objects.create(caller=caller, key=key, call_hash=call_hash)
    except IntegrityError:
        return _again(KeptAnswer.objects.get(caller=caller, key=key), call_hash)
    first = answer()
    kept.status, kept.body, kept.headers = first.status_code, first.data, dict(first.headers)
    kept.save()
    return first


def _again(kept: KeptAnswer, call_hash: str) -> Response:
    if kept.call_hash != call_hash:
        raise Invalid("This idempotency key was used for another call.", "Use a new one.", field=HEADER)
    return Response(kept.body, status=HTTPStatus(kept.status), headers={**kept.headers, "Idempotent-Replay": "true"})


def _caller(actor: Actor) -> str:
    match actor:
        case Person():
            return f"user {actor.user.pk}"
        case Worker():
            return f"agent {actor.agent.pk}"
        case _:
            raise AssertionError("calls are made by people and agents")


def _hash(request: Request) -> str:
    """Names the call. Of a file, its name stands for it."""
    plain = json.dumps([request.method, request.path, request.data], sort_keys=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()
