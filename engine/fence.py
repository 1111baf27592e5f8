"""Who may still write to a run. Its attempt number fences off an older worker, its state one that was cancelled."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef

from agents.models import Run, RunAction, RunState
from issues.prepared import PreparedInstances


class Fenced(Exception):
    """The run is no longer this worker's: cancelled, lost, or resumed by another. What it does is dropped."""


def write(run: Run, **values: Any) -> None:
    """Set these fields of the running run, or raise Fenced."""
    held = Run.objects.filter(pk=run.pk, attempt=run.attempt, state=RunState.RUNNING)
    if not held.update(**values):
        raise Fenced(f"run {run.pk} is no longer held by attempt {run.attempt}")
    for field, value in values.items():
        setattr(run, field, value)


def lock(run: Run) -> Run:
    """The running run's row, held until the transaction ends, or Fenced. Cancelling waits for it, or it for that."""
    held = _running.first(run.pk)
    if held is None or held.attempt != run.attempt or held.issue_id is None:
        raise Fenced(f"run {run.pk} is no longer held by attempt {run.attempt}")
    held.agent.company = held.company
    return held


_running = PreparedInstances(
    lambda run: (
        Run.objects.select_for_update(of=("self",))
        .select_related("company", "agent", "chain_member__user")
        .defer("system_message", "user_message", "prompt_sections")
        .annotate(has_acted=Exists(RunAction.objects.filter(run=OuterRef("pk"))))
        .filter(pk=run, state=RunState.RUNNING)
    )
)


def has_acted(run: Run) -> bool:
    """Whether a run that was just locked has actions already: it may act by its key before it replies."""
    acted: bool = run.has_acted  # type: ignore[attr-defined] # an annotation: asking for it alone would be a query
    return acted
