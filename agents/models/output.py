"""What a run's program shows of its work, while it works and after."""

from __future__ import annotations

from django.db import models

from agents.models.run import Run


class RunOutput(models.Model):
    """What people see of the output of a run's program; its end, if it is long. A row of its own, as it is written
    every second or so."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="output")
    text = models.TextField(blank=True)
    is_cut = models.BooleanField(default=False, help_text="Whether its beginning was left out.")
    written_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"output of run {self.run_id}"
