"""The typed fields of a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

LISTS = {
    "criteria": ("S", "Success criteria"),
    "evidence": ("E", "Evidence"),
    "decisions": ("D", "Decisions"),
    "commitments": ("C", "Commitments"),
    "plan": ("P", "Plan"),
    "failures": ("F", "Failed approaches"),
    "contradictions": ("X", "Contradictions"),
}
"""The lists, with the letter that numbers their points and their heading."""


@dataclass(frozen=True, slots=True)
class Point:
    """One entry. `cites` name the comments or runs that it rests on (`comment 17`, `run 4`); `closed_by` those that
    ended it, none: it is open."""

    id: str
    text: str
    cites: tuple[str, ...] = ()
    closed_by: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        return not self.closed_by


@dataclass(frozen=True, slots=True)
class CheckpointFields:
    objective: str = ""
    next_action: str = ""
    criteria: tuple[Point, ...] = ()
    evidence: tuple[Point, ...] = ()
    decisions: tuple[Point, ...] = ()
    commitments: tuple[Point, ...] = ()
    plan: tuple[Point, ...] = ()
    failures: tuple[Point, ...] = ()
    contradictions: tuple[Point, ...] = ()

    def points(self, name: str) -> tuple[Point, ...]:
        found: tuple[Point, ...] = getattr(self, name)
        return found

    def with_points(self, name: str, points: tuple[Point, ...]) -> CheckpointFields:
        """The same with other points in that list."""
        changed: dict[str, Any] = {name: points}
        return replace(self, **changed)
