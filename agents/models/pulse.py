"""A sign of life of the processes."""

from __future__ import annotations

from django.db import models


class Pulse(models.Model):
    """When a part last showed life. The tick is sent by the beat and done by a worker: it stands for both."""

    name = models.CharField(max_length=20, primary_key=True)
    felt_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.felt_at:%H:%M:%S}"
