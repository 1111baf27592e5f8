"""Answers to calls that may be sent again."""

from __future__ import annotations

import datetime

from django.db import models

ANSWERS_KEPT = datetime.timedelta(days=1)
"""For so long the same call again is given the first answer."""


class KeptAnswer(models.Model):
    """The answer to a call that named itself by an `Idempotency-Key`, written in the transaction of what it made: the
    same call again is given this, and makes nothing."""

    caller = models.CharField(max_length=40, help_text="Whose key it is: nobody else's call is the same one.")
    key = models.CharField(max_length=200)
    call_hash = models.CharField(max_length=64, help_text="SHA-256 of method, address and body.")
    status = models.PositiveSmallIntegerField(default=0)
    body = models.JSONField(default=dict)
    headers = models.JSONField(default=dict)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["caller", "key"], name="kept_answer_once")]
        indexes = [models.Index(fields=["made_at"], name="kept_answer_made")]

    def __str__(self) -> str:
        return f"{self.key} of {self.caller}"
