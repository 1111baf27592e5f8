"""Playing a scenario once: a company is made, one heartbeat runs in it, and its rows are judged."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.models import ActionOutcome
from engine.claim import claim
from engine.evaluation.personas import PERSONAS
from engine.evaluation.scenario import Scenario
from engine.evaluation.seen import Seen
from engine.evaluation.stage import Stage
from engine.heartbeat import heartbeat
from issues.effects import quietly


@dataclass(frozen=True, slots=True)
class Player:
    """Who is tried. `fields` are an agent's: provider, model, tier and so on; a scripted one has a `persona`."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    persona: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One scenario played once. `broken` are the rules that do not hold; tokens as the provider counts them.

    `microdollars` is None without a known price; `seconds` is the time from claim to effect.
    """

    scenario: str
    broken: tuple[str, ...]
    error: str
    applied: int
    denied: int
    failed: int
    approvals: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    microdollars: int | None
    seconds: float

    @property
    def succeeded(self) -> bool:
        return not self.broken


class NotWoken(Exception):
    """A scenario's agent could not be started: the set-up is wrong, or the provider is not configured."""


def play_all(scenarios: Sequence[Scenario], player: Player, repeats: int) -> Iterator[Trial]:
    """Each scenario so many times, a trial after the other."""
    for scenario in scenarios:
        for _ in range(repeats):
            yield play(scenario, player)


def play(scenario: Scenario, player: Player) -> Trial:
    """The scenario once, in a company of its own, which stays. Raises NotWoken."""
    reply = PERSONAS[player.persona](scenario) if player.persona else None
    with quietly():
        scene = scenario.prepare(Stage(player.fields, reply))
    scene.happen()
    run = claim(scene.agent.pk, scene.issue.pk)
    if run is None:
        waiting = scene.agent.wakeups.order_by("-pk").values_list("waiting_because", flat=True).first()
        raise NotWoken(f"{scenario.name}: {waiting or 'nothing woke the agent'}")
    started = time.monotonic()
    heartbeat(run)
    return _judged(scenario, Seen(run), time.monotonic() - started)


def _judged(scenario: Scenario, seen: Seen, seconds: float) -> Trial:
    return Trial(
        scenario=scenario.name,
        broken=tuple(rule.words for rule in scenario.all_rules if not rule.holds(seen)),
        error=seen.run.error,
        applied=seen.outcomes(ActionOutcome.APPLIED),
        denied=seen.outcomes(ActionOutcome.DENIED),
        failed=seen.outcomes(ActionOutcome.FAILED),
        approvals=seen.outcomes(ActionOutcome.APPROVAL),
        input_tokens=seen.run.input_tokens,
        cached_tokens=seen.run.cached_tokens,
        output_tokens=seen.run.output_tokens,
        microdollars=seen.run.cost_microdollars,
        seconds=round(seconds, 3),
    )
