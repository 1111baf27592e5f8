"""What an evaluation came to: kept as JSON, told as a table, compared with another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from math import comb
from typing import Any

from engine.evaluation.trial import Trial


@dataclass(frozen=True, slots=True)
class Results:
    """All trials of one player, those of a scenario one after the other."""

    player: str
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """Several trials in one line: sums, but for `seconds`, which is the mean of one. `microdollars` is None as soon as
    one has no known price."""

    name: str
    trials: int
    succeeded: int
    denied: int
    failed: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    microdollars: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two players, scenario by scenario. `p` is how often a coin would differ as much, from both sides (sign test)."""

    better: tuple[str, ...]
    worse: tuple[str, ...]
    equal: int
    p: float


def figures(name: str, trials: Sequence[Trial]) -> Figures:
    costs = [trial.microdollars for trial in trials]
    known = [cost for cost in costs if cost is not None]
    return Figures(
        name=name,
        trials=len(trials),
        succeeded=sum(trial.succeeded for trial in trials),
        denied=sum(trial.denied for trial in trials),
        failed=sum(trial.failed for trial in trials),
        input_tokens=sum(trial.input_tokens for trial in trials),
        cached_tokens=sum(trial.cached_tokens for trial in trials),
        output_tokens=sum(trial.output_tokens for trial in trials),
        microdollars=sum(known) if len(known) == len(costs) else None,
        seconds=round(sum(trial.seconds for trial in trials) / max(len(trials), 1), 3),
    )


def by_scenario(results: Results) -> list[Figures]:
    """One line for each scenario, in the order played."""
    return [figures(name, list(trials)) for name, trials in groupby(results.trials, lambda trial: trial.scenario)]


def as_table(results: Results) -> str:
    """The lines, their sum, and which rules were broken."""
    lines = [*by_scenario(results), figures("in all", results.trials)]
    head = (
        f"{'scenario':<28}{'passed':>9}{'denied':>8}{'failed':>8}{'in':>9}{'cached':>9}{'out':>8}{'cost':>10}{'s':>8}"
    )
    rows = [_row(line) for line in lines]
    return "\n".join([f"player: {results.player}", head, *rows, *_faults(results.trials)])


def as_json(results: Results) -> str:
    """All trials with the lines and their sum, to be read again by `from_json`."""
    plain = {
        "player": results.player,
        "in_all": asdict(figures("in all", results.trials)),
        "scenarios": [asdict(line) for line in by_scenario(results)],
        "trials": [asdict(trial) for trial in results.trials],
    }
    return json.dumps(plain, indent=1) + "\n"


def from_json(text: str) -> Results:
    """ValueError for what `as_json` has not written."""
    try:
        plain: dict[str, Any] = json.loads(text)
        trials = tuple(Trial(**trial | {"broken": tuple(trial["broken"])}) for trial in plain["trials"])
        return Results(str(plain["player"]), trials)
    except (TypeError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"These are no results of an evaluation: {error}") from error


def compare(first: Results, second: Results) -> Comparison:
    """Where the second does better or worse than the first, of the scenarios that both have played."""
    before, after = _rates(first), _rates(second)
    both = [name for name in before if name in after]
    better = tuple(name for name in both if after[name] > before[name])
    worse = tuple(name for name in both if after[name] < before[name])
    return Comparison(better, worse, len(both) - len(better) - len(worse), sign_test(len(better), len(worse)))


def sign_test(better: int, worse: int) -> float:
    """The two-sided probability of so lopsided a split, or a more lopsided one, among as many fair coins."""
    tosses = better + worse
    tail = sum(comb(tosses, heads) for heads in range(min(better, worse) + 1))
    return min(1.0, float(2 * tail / 2**tosses))


def as_words(first: Results, second: Results) -> str:
    """The comparison as text."""
    found = compare(first, second)
    sums = [figures(one.player, one.trials) for one in (first, second)]
    return "\n".join(
        [
            *(f"{one.name}: {one.succeeded} of {one.trials} passed, {one.input_tokens:,} tokens in" for one in sums),
            f"better in {len(found.better)}: {', '.join(found.better) or '-'}",
            f"worse in {len(found.worse)}: {', '.join(found.worse) or '-'}",
            f"equal in {found.equal}; sign test p = {found.p:.3f}",
        ]
    )


def _rates(results: Results) -> Mapping[str, float]:
    return {line.name: line.succeeded / line.trials for line in by_scenario(results)}


def _row(line: Figures) -> str:
    cost = "-" if line.microdollars is None else f"${line.microdollars / 1_000_000:.4f}"
    passed = f"{line.succeeded}/{line.trials}"
    return (
        f"{line.name:<28}{passed:>9}{line.denied:>8}{line.failed:>8}{line.input_tokens:>9,}{line.cached_tokens:>9,}"
        f"{line.output_tokens:>8,}{cost:>10}{line.seconds:>8.2f}"
    )


def _faults(trials: Iterable[Trial]) -> list[str]:
    """What should have been, once for each scenario and rule, with how often it was not."""
    counts: dict[tuple[str, str], int] = {}
    for trial in trials:
        for words in trial.broken:
            counts[trial.scenario, words] = counts.get((trial.scenario, words), 0) + 1
    return [f"- {name}, not so {count} times: {words}" for (name, words), count in counts.items()]
