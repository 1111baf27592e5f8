"""What the engine itself costs: a heartbeat whose model answers at once, on each database that is here.

    python -m benchmarks.heartbeat [--json FILE] [--quick]

One run after the other in one process, each on an issue of its own: claim, gather, render, ask a script, apply a
comment and `/status done`, record. What wakes the worker is measured by `benchmarks.wakeups`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.stack import stack

RUNS, QUICK_RUNS = 200, 30
WARM_UP = 5
AIM_MS = {"SQLite": 60.0, "PostgreSQL": 80.0}
PEER = "474 / 684"
"""The peer's heartbeat with nothing to compute, p50 and p95 in ms; see `benchmarks.peer` on comparing."""

REPLY = "I read it and did what it asks for; the result stands in the comment above.\\n\\n/status done"


@dataclass(frozen=True, slots=True)
class Overhead:
    """Of one database. `cpu_ms` is what this process computed for one, which a busy machine changes less than the time
    that passed; `queries` are a heartbeat's statements, without those that begin and end transactions."""

    database: str
    runs: int
    p50_ms: float
    p95_ms: float
    per_second: float
    cpu_ms: float
    queries: int


def measure_here(runs: int) -> dict[str, Any]:
    """One `Overhead`, on the database of this process's environment."""
    from django.db import connection

    from agents.models import Run
    from engine.claim import claim_next
    from engine.heartbeat import heartbeat
    from tests import build

    company, _ = build.company_with_founder(max_concurrent_runs=10)
    agent = build.agent(company, "Ada", provider="scripted", script=f'- reply: "{REPLY}"')

    def beat() -> tuple[float, float]:
        build.issue(company, "Look into the slow page", description="It takes two seconds. " * 20, assignee=agent)
        began, computed = time.perf_counter(), time.process_time()
        run = claim_next()
        assert run is not None
        heartbeat(run)
        return time.perf_counter() - began, time.process_time() - computed

    for _ in range(WARM_UP):
        beat()
    measured = [beat() for _ in range(runs)]
    taken = sorted(passed for passed, _ in measured)
    assert not Run.objects.exclude(state="succeeded").exists()
    return asdict(
        Overhead(
            database="PostgreSQL" if connection.vendor == "postgresql" else "SQLite",
            runs=runs,
            p50_ms=round(taken[runs // 2] * 1000, 1),
            p95_ms=round(taken[int(runs * 0.95)] * 1000, 1),
            per_second=round(runs / sum(taken), 1),
            cpu_ms=round(sum(computed for _, computed in measured) / runs * 1000, 1),
            queries=_count_queries(beat),
        )
    )


def _count_queries(beat: Callable[[], object]) -> int:
    """The statements of one heartbeat, on a connection that is kept over its turns."""
    from django.db import connection, connections
    from django.test.utils import CaptureQueriesContext

    close_all, connections.close_all = connections.close_all, lambda: None
    try:
        with CaptureQueriesContext(connection) as asked:
            beat()
    finally:
        connections.close_all = close_all
    statements = [query["sql"] for query in asked.captured_queries]
    look = next(number for number, sql in enumerate(statements) if "agents_wakeup" in sql and "LIMIT 50" in sql)
    brackets = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")
    return sum(not sql.startswith(brackets) for sql in statements[look:])


def measure(runs: int) -> list[Overhead]:
    """On each database, in a process of its own."""
    results = []
    for postgres in (False, True):
        with stack(postgres=postgres, broker="embedded") as here:
            if here is not None:
                results.append(Overhead(**here.call("benchmarks.heartbeat:measure_here", runs)))
    return results


def show(results: Sequence[Overhead]) -> None:
    print(
        f"{'database':<12}{'runs':>6}{'p50 ms':>9}{'p95 ms':>9}{'a second':>10}{'CPU ms':>8}{'queries':>9}"
        f"{'aim p50':>9}  peer p50 / p95"
    )
    for row in results:
        print(
            f"{row.database:<12}{row.runs:>6}{row.p50_ms:>9.1f}{row.p95_ms:>9.1f}{row.per_second:>10.1f}"
            f"{row.cpu_ms:>8.1f}{row.queries:>9}{AIM_MS[row.database]:>9.0f}  {PEER}"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs instead of {RUNS}")
    options = parser.parse_args(arguments)
    results = measure(QUICK_RUNS if options.quick else RUNS)
    show(results)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in results], indent=2) + "\n")


if __name__ == "__main__":
    main()
