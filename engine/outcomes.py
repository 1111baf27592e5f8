"""What became of an action of a reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


def plain(outcome: Outcome) -> dict[str, Any]:
    """The outcome as plain JSON, for what is printed or kept without being applied."""
    effect = outcome.effect
    return {
        "verb": outcome.action.verb,
        "args": outcome.action.args,
        "line": outcome.action.line,
        "outcome": outcome.outcome.value,
        "reason": outcome.reason,
        "effect": effect.summary if effect is not None else "",
        "before": dict(effect.before) if effect is not None else {},
        "after": dict(effect.after) if effect is not None else {},
    }
