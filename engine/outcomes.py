"""What became of an action of a reply."""

from __future__ import annotations

from dataclasses import dataclass

from agents.models import ActionOutcome
from engine.text.types import Action
from engine.verbs.base import Effect
from issues.models import Approval


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one action."""

    ordinal: int
    action: Action
    outcome: ActionOutcome
    reason: str = ""
    effect: Effect | None = None
    approval: Approval | None = None
