"""How fast the API answers, how soon the installation starts, and what memory it takes.

    python -m benchmarks.api [--json FILE] [--quick]

A server of its own (web, worker and beat, SQLite) on a free port, companies of 1,000 and 10,000 issues, clients with
one kept connection each. Milliseconds are seen by the client. The peer's figures stand beside ours: see `peer`.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import peer
from benchmarks.company import SEARCHED, Seeded
from benchmarks.installation import ROOT, Installation

CLIENTS = (1, 8)
CALLS = 300
"""Of each kind, by all clients together."""
WARM_UP = 20
COMMENT = "Looked at it: the cache is cold after each deploy, and the first request pays for all of them. " * 3


class Client:
    """One connection, kept open."""

    def __init__(self, port: int, key: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        data = json.dumps(body) if body is not None else None
        self.connection.request(method, path, data, self.headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:500]!r}")
        return content


Call = Callable[[Client, int], object]


@dataclass(frozen=True, slots=True)
class Timing:
    """One kind of call by so many clients at once."""

    call: str
    issues: int
    clients: int
    p50_ms: float
    p95_ms: float
    per_second: float


@dataclass(frozen=True, slots=True)
class Walk:
    """All issues read, page after page."""

    issues: int
    seconds: float
    megabytes: float
    requests: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """Of the whole installation. Memory in megabytes (PSS), None where the system does not tell."""

    first_start_seconds: float
    restart_seconds: float
    idle_megabytes: float | None
    loaded_megabytes: float | None


@dataclass(frozen=True, slots=True)
class Results:
    timings: Sequence[Timing]
    walks: Sequence[Walk]
    footprint: Footprint


def calls_on(company: str, issues: int) -> Mapping[str, Call]:
    """What is measured: each call gets its running number."""
    return {
        "create": lambda client, number: client.call(
            "POST", "/api/issues", {"company": company, "title": f"New work {number}", "description": COMMENT}
        ),
        "get": lambda client, number: client.call("GET", f"/api/issues/{company}-{1 + number * 7 % issues}"),
        "list 50": lambda client, _: client.call("GET", f"/api/issues?company={company}&limit=50"),
        "search 50": lambda client, _: client.call("GET", f"/api/search?company={company}&q={SEARCHED}&limit=50"),
        "comment": lambda client, number: client.call(
            "POST", f"/api/issues/{company}-{1 + number * 7 % issues}/comments", {"body": COMMENT}
        ),
    }


def time_calls(name: str, call: Call, *, port: int, seeded: Seeded, issues: int, clients: int) -> Timing:
    numbers = itertools.count()
    share = CALLS // clients

    def work(_: int) -> list[float]:
        client = Client(port, seeded.key)
        for _ in range(max(1, WARM_UP // clients)):
            call(client, next(numbers))
        taken = []
        for _ in range(share):
            began = time.perf_counter()
            call(client, next(numbers))
            taken.append(time.perf_counter() - began)
        return taken

    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        taken = sorted(itertools.chain.from_iterable(pool.map(work, range(clients))))
    whole = time.perf_counter() - began
    return Timing(
        call=name,
        issues=issues,
        clients=clients,
        p50_ms=round(taken[len(taken) // 2] * 1000, 2),
        p95_ms=round(taken[int(len(taken) * 0.95)] * 1000, 2),
        per_second=round((len(taken) + max(1, WARM_UP // clients) * clients) / whole, 1),
    )


def walk(port: int, seeded: Seeded, issues: int) -> Walk:
    client = Client(port, seeded.key)
    path: str | None = f"/api/issues?company={seeded.company}&limit=200"
    size = requests = rows = 0
    began = time.perf_counter()
    while path:
        content = client.call("GET", path)
        page = json.loads(content)
        size, requests, rows = size + len(content), requests + 1, rows + len(page["results"])
        path = page["next"] and page["next"].removeprefix(f"http://127.0.0.1:{port}")
    seconds = time.perf_counter() - began
    if rows < issues:
        raise RuntimeError(f"The walk met {rows} of {issues} issues.")
    return Walk(issues, round(seconds, 2), round(size / 1e6, 2), requests)


def measure(sizes: Sequence[int]) -> Results:
    timings: list[Timing] = []
    walks: list[Walk] = []
    with Installation() as installation:
        first_start = installation.start()
        time.sleep(2)
        idle = installation.megabytes()
        companies = {size: _seed(installation, size) for size in sizes}
        for size, seeded in companies.items():
            walks.append(walk(installation.port, seeded, size))
            for clients, (name, call) in itertools.product(CLIENTS, calls_on(seeded.company, size).items()):
                timings.append(
                    time_calls(name, call, port=installation.port, seeded=seeded, issues=size, clients=clients)
                )
        loaded = installation.megabytes()
        installation.stop()
        restart = installation.start()
    return Results(timings, walks, Footprint(round(first_start, 2), round(restart, 2), idle, loaded))


def _seed(installation: Installation, size: int) -> Seeded:
    """Seed in a process of its own, which has the installation's environment."""
    program = (
        "import django, json; django.setup(); from dataclasses import asdict; from benchmarks.company import seed; "
        f"print(json.dumps(asdict(seed('BENCH{len(str(size))}', {size}))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=installation.environment, stdout=subprocess.PIPE, check=True
    )
    return Seeded(**json.loads(done.stdout.splitlines()[-1]))


def show(results: Results) -> None:
    print(
        f"{'call':<12}{'issues':>8}{'clients':>9}{'p50 ms':>9}{'p95 ms':>9}{'a second':>10}{'peer p50':>10}{'aim':>6}"
    )
    for timing in results.timings:
        figure = _beside(timing)
        print(
            f"{timing.call:<12}{timing.issues:>8,}{timing.clients:>9}{timing.p50_ms:>9.1f}{timing.p95_ms:>9.1f}"
            f"{timing.per_second:>10.0f}{figure.peer:>10}{figure.aim:>6}"
        )
    print(
        f"\nPeer, 8 clients: {peer.CREATES_A_SECOND.peer} creates a second; the aim is {peer.CREATES_A_SECOND.aim}.\n"
    )
    print(f"{'':<34}{'ours':>9}{'peer':>9}{'aim':>7}")
    for walked in results.walks:
        is_comparable = walked.issues == peer.LARGE
        _row(f"walk {walked.issues:,} issues, s", walked.seconds, peer.WALK_SECONDS if is_comparable else None)
        _row(f"walk {walked.issues:,} issues, MB", walked.megabytes, peer.WALK_MEGABYTES if is_comparable else None)
    footprint = results.footprint
    _row("first start to first answer, s", footprint.first_start_seconds, peer.FIRST_START_SECONDS)
    _row("restart with these issues, s", footprint.restart_seconds, peer.RESTART_SECONDS)
    _row("memory idle, MB", footprint.idle_megabytes, peer.IDLE_MEGABYTES)
    _row("memory after load, MB", footprint.loaded_megabytes, peer.LOADED_MEGABYTES)


def _beside(timing: Timing) -> peer.Figure:
    """The peer's figure for the same work, where there is one."""
    if timing.clients == 1:
        return peer.FIGURES[timing.call, timing.issues]
    return peer.CREATE_OF_EIGHT_MS if timing.call == "create" else peer.Figure("", "")


def _row(name: str, ours: float | None, figure: peer.Figure | None) -> None:
    shown = "unknown" if ours is None else f"{ours:,.1f}"
    print(f"{name:<34}{shown:>9}{figure.peer if figure else '':>9}{figure.aim if figure else '':>7}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--quick", action="store_true", help="only the company of 1,000 issues")
    options = parser.parse_args(arguments)
    results = measure([peer.SMALL] if options.quick else [peer.SMALL, peer.LARGE])
    show(results)
    if options.json:
        options.json.write_text(json.dumps(asdict(results), indent=2) + "\n")


if __name__ == "__main__":
    main()
