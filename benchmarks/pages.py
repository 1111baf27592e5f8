"""How long the server takes for a page, how heavy it is, and how often it asks the database.

    python -m benchmarks.pages [--json FILE] [--quick] [--postgres]

Companies of 1,000, 10,000 and 100,000 issues with ten comments each, every one in a database of its own. Milliseconds
are of the server alone, medians, in a warm process: as a clock has them, and as the processor was at work, which other
work on the machine does not change (on PostgreSQL without the database's own). Bytes are as they are sent, compressed.
The aims are for 10,000 issues, and twice that for 100,000.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import peer
from benchmarks.company import SEARCHED
from benchmarks.stack import stack

SIZES = (1_000, 10_000, 100_000)
TIMES = 21
WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A page: its address below the company, and the milliseconds that we aim at with 10,000 issues."""

    name: str
    address: str
    aim: int
    peer: str = ""


PAGES = (
    Asked("board", "board/", 150, peer.LIST_SECONDS),
    Asked("board by assignee", "board/?group=assignee", 150),
    Asked("board, one word", f"board/?text={SEARCHED}", 150),
    Asked("list", "issues/", 100, peer.LIST_SECONDS),
    Asked("list by project", "issues/?group=project", 100),
    Asked("list, one after another", "issues/?group=none&status=open", 100),
    Asked("list, last changed", "issues/?group=none&sort=changed", 100),
    Asked("list, one word", f"issues/?text={SEARCHED}", 100),
    Asked("list, a common word", "issues/?text=cache", 100),
    Asked("issue", "issues/KEY-700/", 100, peer.ISSUE_SECONDS),
    Asked("search, a rare word", f"search/?q={SEARCHED}", 150, peer.SEARCH_MS),
    Asked("search, two common words", "search/?q=cache+deploy", 150),
    Asked("search, one letter", "search/?q=c", 150),
    Asked("palette, a number", "complete/?of=issues&q=70", 150),
    Asked("palette, two words", "complete/?of=issues&q=cache+dep", 150),
    Asked("home", "", 150),
    Asked("runs", "runs/", 150),
)


@dataclass(frozen=True, slots=True)
class Row:
    page: str
    issues: int
    ms: float
    processor_ms: float
    bytes: int
    queries: int


def measure(key: str, count: int) -> list[dict[str, object]]:
    """Fill a company and ask for each page. Runs in a process of its own, on a database of its own."""
    from django.db import connection

    from benchmarks.archive import fill

    founder = fill(key, count)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # which it does by itself, a minute later
    return [asdict(row) for row in ask_each(key, founder, count)]


def ask_each(key: str, founder: str, count: int) -> Iterator[Row]:
    """Each page, asked for by the founder, again and again."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from issues.models import User

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.SECURE_SSL_REDIRECT = False
    client = Client()
    client.force_login(User.objects.get(username=founder))
    for page in PAGES:
        address = f"/{key.lower()}/{page.address.replace('KEY', key)}"
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(address)
        asked = len(queries)
        assert answer.status_code == 200, (address, answer.status_code)
        taken: list[tuple[float, float]] = []
        for _ in range(WARM_UP + TIMES):
            began = time.perf_counter(), time.process_time()
            client.get(address)
            taken.append((time.perf_counter() - began[0], time.process_time() - began[1]))
        wall, processor = (statistics.median(times) * 1_000 for times in zip(*taken[WARM_UP:], strict=True))
        weight = len(gzip.compress(answer.content))
        yield Row(page.name, count, round(wall, 1), round(processor, 1), weight, asked)


def show(rows: Sequence[Row]) -> None:
    print(f"{'page':<26}{'issues':>9}{'ms':>8}{'cpu ms':>8}{'aim':>6}{'kB':>7}{'queries':>9}  peer")
    for page in PAGES:
        for row in (row for row in rows if row.page == page.name):
            aim = page.aim * (2 if row.issues > peer.LARGE else 1)
            beside = page.peer if row.issues == peer.SMALL else ""
            print(
                f"{row.page:<26}{row.issues:>9,}{row.ms:>8.1f}{row.processor_ms:>8.1f}{aim:>6}{row.bytes / 1000:>7.1f}"
                f"{row.queries:>9}  {beside}"
            )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--quick", action="store_true", help="not the company of 100,000 issues")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL instead of SQLite")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for count in SIZES[:2] if options.quick else SIZES:
        with stack(postgres=options.postgres, broker="embedded") as made:
            if made is None:
                raise SystemExit("There is no PostgreSQL here that lets this user make databases.")
            made.run("manage.py", "collectstatic", "--no-input", "--verbosity", "0")
            rows += [Row(**row) for row in made.call("benchmarks.pages:measure", "PAGES", count)]
    show(rows)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
