"""From a wakeup to a run, by real workers: how soon one starts, and how long many at once take.

    python -m benchmarks.wakeups [--json FILE] [--quick]

On SQLite with the embedded broker and, where they are here, PostgreSQL with Redis: one worker process and one beat. The
ideal of the last rows is the time that the model takes, five seconds. Memory is the worker's, each shared page counted
once; CPU is what it computed for the wave, which a busy machine changes less than the time that passed; threads are the
most that it had.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.installation import cpu_seconds, pss
from benchmarks.stack import Stack, stack

SINGLES, QUICK_SINGLES = 40, 10
SMALL_WAVE, LARGE_WAVE = 10, 200
MODEL_SECONDS = 5.0

START_AIM_MS = {"embedded": 150.0, "redis": 60.0}
LARGE_WAVE_AIM_S = {"embedded": 20.0, "redis": 15.0}
SMALL_WAVE_AIM_S = 0.5
PEER_SMALL_WAVE_S = "2.5"
"""The peer's time for ten agents at once; see `benchmarks.peer` on comparing."""


@dataclass(frozen=True, slots=True)
class Start:
    """How long after a wakeup was committed its run had been claimed, on an idle worker."""

    stack: str
    wakeups: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Wave:
    """So many agents woken in one transaction: from its commit until all runs had ended."""

    stack: str
    agents: int
    model_seconds: float
    all_started_s: float
    all_done_s: float
    cpu_s: float
    megabytes: float
    threads: int


@dataclass(frozen=True, slots=True)
class Results:
    starts: Sequence[Start]
    waves: Sequence[Wave]


def measure(singles: int) -> Results:
    starts: list[Start] = []
    waves: list[Wave] = []
    for postgres, broker in ((False, "embedded"), (True, "redis")):
        with stack(postgres=postgres, broker=broker) as here:
            if here is None:
                continue
            here.call("benchmarks.waking:found", [(SMALL_WAVE, 0.0), (LARGE_WAVE, MODEL_SECONDS)])
            with here.worker() as worker:
                starts.append(time_starts(here, singles))
                waves.append(time_wave(here, worker.pid, SMALL_WAVE, 0.0))
                waves.append(time_wave(here, worker.pid, LARGE_WAVE, MODEL_SECONDS))
    return Results(starts, waves)


def time_starts(here: Stack, singles: int) -> Start:
    """Wake one agent after the other, each when the run before has ended."""
    taken = sorted(here.call("benchmarks.waking:time_starts", 0.0, singles))
    return Start(
        here.name,
        singles,
        p50_ms=round(taken[singles // 2] * 1000, 1),
        p95_ms=round(taken[int(singles * 0.95)] * 1000, 1),
    )


def time_wave(here: Stack, worker: int, agents: int, seconds: float) -> Wave:
    """Wake them all at once and wait."""
    with watched(worker) as seen:
        started, done = here.call("benchmarks.waking:time_wave", seconds)
    return Wave(
        here.name,
        agents,
        seconds,
        all_started_s=round(started, 2),
        all_done_s=round(done, 2),
        cpu_s=round(seen.cpu_seconds, 2),
        megabytes=round(seen.megabytes, 1),
        threads=seen.threads,
    )


@dataclass
class Watch:
    """The most that a process had meanwhile, and what it computed."""

    megabytes: float = 0.0
    threads: int = 0
    cpu_seconds: float = 0.0


@contextmanager
def watched(pid: int) -> Iterator[Watch]:
    """Look at a process again and again."""
    watch, ended, before = Watch(), threading.Event(), cpu_seconds(pid)

    def look() -> None:
        while not ended.wait(0.25):
            watch.megabytes = max(watch.megabytes, pss(pid) / 1024)
            watch.threads = max(watch.threads, len(list(Path(f"/proc/{pid}/task").iterdir())))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()
        watch.cpu_seconds = cpu_seconds(pid) - before


def show(results: Results) -> None:
    print(f"{'wakeup to run start':<24}{'wakeups':>9}{'p50 ms':>9}{'p95 ms':>9}{'aim p50':>9}")
    for start in results.starts:
        aim = START_AIM_MS[_broker(start.stack)]
        print(f"{start.stack:<24}{start.wakeups:>9}{start.p50_ms:>9.1f}{start.p95_ms:>9.1f}{aim:>9.0f}")
    print(
        f"\n{'woken at once':<24}{'agents':>8}{'model s':>9}{'started s':>11}{'done s':>8}{'aim':>6}{'peer':>6}"
        f"{'CPU s':>7}{'MB':>7}{'threads':>9}"
    )
    for wave in results.waves:
        is_small = wave.agents == SMALL_WAVE
        aim = SMALL_WAVE_AIM_S if is_small else LARGE_WAVE_AIM_S[_broker(wave.stack)]
        print(
            f"{wave.stack:<24}{wave.agents:>8}{wave.model_seconds:>9.0f}{wave.all_started_s:>11.2f}"
            f"{wave.all_done_s:>8.2f}{aim:>6g}{PEER_SMALL_WAVE_S if is_small else '':>6}{wave.cpu_s:>7.1f}"
            f"{wave.megabytes:>7.0f}{wave.threads:>9}"
        )


def _broker(name: str) -> str:
    return name.rpartition(" ")[2]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SINGLES} single wakeups instead of {SINGLES}")
    options = parser.parse_args(arguments)
    results = measure(QUICK_SINGLES if options.quick else SINGLES)
    show(results)
    if options.json:
        options.json.write_text(json.dumps(asdict(results), indent=2) + "\n")


if __name__ == "__main__":
    main()
