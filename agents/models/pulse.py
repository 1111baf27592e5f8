"""A sign of life of the processes."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils import timezone


class PulseQuerySet(models.QuerySet["Pulse"]):
    def take_turn(self, name: str, *, every: timedelta) -> bool:
        """Whether `name` has its turn: nobody has had it for so long. Of two who ask at once, one is told so."""
        now = timezone.now()
        pulse, is_first = self.get_or_create(name=name, defaults={"felt_at": now})
        due = self.filter(pk=name, felt_at=pulse.felt_at, felt_at__lte=now - every)
        return is_first or bool(due.update(felt_at=now))


class Pulse(models.Model):
    """When a part last showed life. The tick is sent by the beat and done by a worker: it stands for both."""

    name = models.CharField(max_length=20, primary_key=True)
    felt_at = models.DateTimeField()

    objects = PulseQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} at {self.felt_at:%H:%M:%S}"
