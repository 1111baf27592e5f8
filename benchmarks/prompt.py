"""How long a prompt takes to build, by the comments of its issue, and what it costs in bytes and tokens.

    python -m benchmarks.prompt [--json FILE]

The context is made beforehand: gathering it from the database is measured with the heartbeat. The ratio compares the
issue of 10,000 comments with that of 100; five is the most that the project allows itself. At the end: how far the
estimate for an encoding that is not known lies off, with cl100k in its place.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.meters import meter_for
from engine.prompt import build_heartbeat_prompt
from engine.text.context import HeartbeatContext, Tier
from tests.golden.cases import CASES
from tests.text.contexts import long_history, plain
from tests.text.test_prompt_tokens import KINDS, estimates_error

COMMENTS = (10, 100, 1_000, 10_000)
REPEATS = 20  # the best of these counts: on a busy machine the others measure the neighbours
FIXED = ("Contract", "Available Actions", "Escalation Playbook", "Instructions")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `size` in bytes and `tokens` by o200k are of both messages; `ms` to build them."""

    prompt: str
    size: int
    tokens: int
    ms: float | None = None


def best_seconds(context: HeartbeatContext) -> float:
    """The shortest time in which the context's prompt was built."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        build_heartbeat_prompt(context)
        times.append(time.perf_counter() - start)
    return min(times)


def whole(name: str, context: HeartbeatContext) -> Row:
    """The prompt of a context."""
    prompt = build_heartbeat_prompt(context)
    return row(name, [prompt.system, prompt.user], best_seconds(context))


def fixed_text(tier: Tier) -> Row:
    """What every heartbeat of the tier pays before anything of its issue."""
    prompt = build_heartbeat_prompt(plain(tier=tier))
    messages = {"system": prompt.system, "user": prompt.user}
    fixed = [section for section in prompt.sections if section.title in FIXED]
    return row(f"fixed text, {tier}", [messages[section.message][section.start : section.end] for section in fixed])


def row(name: str, texts: Sequence[str], seconds: float | None = None) -> Row:
    """The line for these texts."""
    size = sum(len(text.encode()) for text in texts)
    tokens = sum(meter_for("").count(text) for text in texts)
    return Row(name, size, tokens, round(seconds * 1_000, 2) if seconds else None)


def measure() -> tuple[list[Row], dict[str, float]]:
    """All lines, the ratio that must stay under five, and the time to load the encoding."""
    start = time.perf_counter()
    meter_for("")
    loading = time.perf_counter() - start
    by_comments = {count: replace(plain(), history=long_history(count)) for count in COMMENTS}
    rows = [
        *(whole(f"{count:,} comments", context) for count, context in by_comments.items()),
        *(whole(case.__name__.replace("_", ", "), case()) for case in CASES),
        *map(fixed_text, Tier),
    ]
    ratio = best_seconds(by_comments[10_000]) / best_seconds(by_comments[100])
    return rows, {"10,000 comments to 100": round(ratio, 2), "seconds to load the encoding": round(loading, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    rows, figures = measure()
    print(f"{'prompt':<24}{'ms':>10}{'bytes':>10}{'tokens':>10}")
    for line in rows:
        print(f"{line.prompt:<24}{line.ms or '-':>10}{line.size:>10,}{line.tokens:>10,}")
    for name, figure in figures.items():
        print(f"{name}: {figure}")
    errors = {kind: round(estimates_error(kind), 2) for kind in KINDS}
    print("error of the estimate: " + ", ".join(f"{kind} {error:+.0%}" for kind, error in errors.items()))
    if arguments.json:
        results = {"prompts": [asdict(line) for line in rows], **figures, "error of the estimate": errors}
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
