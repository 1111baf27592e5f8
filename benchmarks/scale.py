"""What claiming, gathering and sweeping cost in a large installation, beside a small one. PostgreSQL alone.

    python -m benchmarks.scale [--json FILE] [--quick]

1,000 issues with ten comments each, then a hundred times as many in ten companies with a thousand agents, filled by the
database itself (`tests.crowd`). Median times of one step each, on issues drawn by lot. Then each statement's plan is
looked at: those that read a table of thousands of rows whole are counted, and told of.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.stack import stack

TURNS = 4
ROUNDS, QUICK_ROUNDS = 20, 5
WARM_UP = 5
AIM_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class Installation:
    """So many companies, each with so many rows."""

    companies: int
    issues: int
    comments: int
    agents: int


SMALL = Installation(companies=1, issues=1_000, comments=10_000, agents=10)
LARGE = Installation(companies=10, issues=10_000, comments=100_000, agents=100)
QUICK_LARGE = Installation(companies=10, issues=1_000, comments=10_000, agents=100)


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians, in ms. `read_whole`: the statements that read a large table from end to end."""

    issues: int
    comments: int
    agents: int
    fill_s: float
    claim_ms: float
    gather_ms: float
    sweep_ms: float
    read_whole: Sequence[str]


def fill_here(companies: int, issues: int, comments: int, agents: int) -> float:
    """Fill the database of this process's environment; seconds."""
    from tests.crowd import Size, crowd
    from tests.plans import count_rows

    began = time.perf_counter()
    for number in range(companies):
        crowd(f"CO{number}", Size(issues, comments, agents))
    count_rows()
    return time.perf_counter() - began


def time_here(rounds: int) -> list[tuple[float, float, float]]:
    """Seconds of claim, gather and sweep in each round, on the database of this process's environment."""
    homes, chance = _homes()
    return [_beat(homes, chance) for _ in range(WARM_UP + rounds)][WARM_UP:]


def plans_here() -> list[str]:
    """The statements of a round that read a large table whole."""
    from tests.plans import planned

    homes, chance = _homes()
    with planned() as found:
        _beat(homes, chance)
    return found.read_whole


def _homes() -> tuple[list[Any], random.Random]:
    from django.db import connections

    from issues.models import Company

    connections.close_all = lambda: None
    return list(Company.objects.order_by("pk")), random.Random(1)


def _beat(homes: Sequence[Any], chance: random.Random) -> tuple[float, float, float]:
    """Wake an agent on an issue, claim that, gather its prompt's context, give it up, sweep; seconds of the three."""
    from agents.services.runs import cancel_run
    from engine.claim import claim_next
    from engine.context import gather
    from engine.sweep import sweep
    from issues.effects import Wake, unit, wake
    from issues.sources import WakeupSource
    from tests import build

    home = chance.choice(homes)
    newest = home.issues.latest("number").number
    issue = home.issues.select_related("company").get(number=newest - chance.randrange(newest // 2))
    agent_id = issue.assignee_agent_id or home.agents.earliest("pk").pk
    owner = build.owner_of(home)
    with unit():
        wake(Wake(agent_id=agent_id, issue=issue, source=WakeupSource.MANUAL, actor=owner, reason="Look."))
    claimed, run = _timed(claim_next)
    assert run is not None
    gathered, _ = _timed(lambda: gather(run))
    cancel_run(actor=owner, run=run)
    swept, _ = _timed(sweep)
    return claimed, gathered, swept


def _timed(step: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = step()
    return time.perf_counter() - began, answer


def measure(*, quick: bool) -> list[Cost]:
    """Each in a fresh database, by turns, so that what else the machine does meanwhile weighs on both alike."""
    sizes = (SMALL, QUICK_LARGE if quick else LARGE)
    with stack(postgres=True, broker="embedded") as small, stack(postgres=True, broker="embedded") as large:
        if small is None or large is None:
            return []
        both = (small, large)
        filled = [
            here.call("benchmarks.scale:fill_here", *asdict(size).values())
            for here, size in zip(both, sizes, strict=True)
        ]
        times: tuple[list[Sequence[float]], ...] = ([], [])
        for _ in range(TURNS):
            for here, so_far in zip(both, times, strict=True):
                so_far += here.call("benchmarks.scale:time_here", QUICK_ROUNDS if quick else ROUNDS)
        return [
            _cost(size, seconds, taken, here.call("benchmarks.scale:plans_here"))
            for here, size, seconds, taken in zip(both, sizes, filled, times, strict=True)
        ]


def _cost(size: Installation, filled: float, times: Sequence[Sequence[float]], read_whole: Sequence[str]) -> Cost:
    claim, gather, sweep = (round(statistics.median(step) * 1000, 1) for step in zip(*times, strict=True))
    return Cost(
        size.companies * size.issues,
        size.companies * size.comments,
        size.companies * size.agents,
        round(filled, 1),
        claim,
        gather,
        sweep,
        read_whole,
    )


def show(results: Sequence[Cost]) -> None:
    print(
        f"{'issues':>9}{'comments':>11}{'agents':>8}{'filled s':>10}{'claim ms':>10}{'gather ms':>11}{'sweep ms':>10}"
    )
    for row in results:
        print(
            f"{row.issues:>9,}{row.comments:>11,}{row.agents:>8,}{row.fill_s:>10.1f}{row.claim_ms:>10.1f}"
            f"{row.gather_ms:>11.1f}{row.sweep_ms:>10.1f}"
        )
    if not results:
        print("There is no PostgreSQL here.")
        return
    small, large = results
    ratios = [getattr(large, name) / getattr(small, name) for name in ("claim_ms", "gather_ms", "sweep_ms")]
    print(f"{'ratio':>38}{ratios[0]:>10.2f}{ratios[1]:>11.2f}{ratios[2]:>10.2f}   aim {AIM_RATIO:g}")
    print(f"Statements that read a large table whole: {len(large.read_whole)}")
    for line in large.read_whole:
        print(f"  {line}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, fewer rounds")
    options = parser.parse_args(arguments)
    results = measure(quick=options.quick)
    show(results)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in results], indent=2) + "\n")
    if any(row.read_whole for row in results):
        sys.exit(1)


if __name__ == "__main__":
    main()
