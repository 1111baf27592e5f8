"""Run all benchmarks: `python -m benchmarks [NAME ...] [--quick]`.

Each prints its tables and writes its figures to `benchmarks/results/NAME.json`.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

BENCHMARKS: Mapping[str, tuple[str, ...]] = {
    "parser": ("--largest", "100000"),
    "prompt": (),
    "heartbeat": ("--quick",),
    "wakeups": ("--quick",),
    "scale": ("--quick",),
    "pages": ("--quick",),
    "api": ("--quick",),
}
"""Each with what makes it quick."""

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results"


def main() -> int:
    """Each in a process of its own, so that none warms up or burdens another; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(BENCHMARKS)} (default all)")
    parser.add_argument("--quick", action="store_true", help="smaller inputs: a minute or two in all")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHMARKS):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    RESULTS.mkdir(exist_ok=True)
    failed = [name for name in options.names or BENCHMARKS if not _run(name, quick=options.quick)]
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _run(name: str, *, quick: bool) -> bool:
    module = f"benchmarks.{name}"
    if importlib.util.find_spec(module) is None:
        print(f"== {name}: not here\n")
        return True
    print(f"== {name}", flush=True)
    command = [
        sys.executable,
        "-m",
        module,
        "--json",
        str(RESULTS / f"{name}.json"),
        *(BENCHMARKS[name] if quick else ()),
    ]
    done = subprocess.run(command, cwd=FOLDER.parent, check=False)
    print(flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    raise SystemExit(main())
