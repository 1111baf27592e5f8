"""What a scenario is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.evaluation.rules import Rule, ended_well, opens_at_most, wakes_only
from engine.evaluation.stage import Scene, Stage


@dataclass(frozen=True, slots=True)
class Scenario:
    """One situation and the rules that its outcome must keep.

    `tries` says in a line what is tried. `perfect` is a reply that keeps all rules; `obeyed`, where a stranger's text
    gives orders, one that follows them. `may_wake` and `may_open` are what the task needs: more is noise, which every
    scenario counts as failure.
    """

    name: str
    tries: str
    prepare: Callable[[Stage], Scene]
    rules: tuple[Rule, ...]
    perfect: str
    obeyed: str = ""
    may_wake: frozenset[str] = frozenset()
    may_open: int = 0

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """Its own and those that hold everywhere."""
        return (ended_well(), *self.rules, wakes_only(self.may_wake), opens_at_most(self.may_open))
