"""`make test`: everything this machine can run, on each database, and a word on what was left out.

Arguments go to pytest, as in `python -m tests -k broker`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

from tests import machine

# The folders whose tests depend on what the database does; the rest would only repeat itself.
ON_EVERY_DATABASE = ("tests/services", "tests/verbs", "tests/engine", "tests/api")

# One more than the two processors that they are meant for: servers, browsers and leases are waited for.
PROCESSES = 3

# pytest's exit code for "no test was collected".
NO_TESTS = 5


@dataclass(frozen=True)
class Pass:
    """One run of pytest over some folders against one database."""

    title: str
    folders: tuple[str, ...]
    database_url: str = ""

    def run(self, arguments: list[str]) -> bool:
        """Whether nothing failed."""
        print(f"\n== {self.title}", flush=True)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            str(PROCESSES),
            "--dist",
            "loadfile",
            "--no-loadscope-reorder",  # but as tests/sharing.py has it
            *self.folders,
            *arguments,
        ]
        environment = os.environ | {"DATABASE_URL": self.database_url}
        # Tests start hundreds of processes; each would compile all of Trimus anew.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return subprocess.run(command, env=environment, check=False).returncode in (0, NO_TESTS)


def main(arguments: list[str]) -> int:
    unknown = machine.required() - machine.NEEDS.keys()
    if unknown:
        print(f"TRIMUS_REQUIRE names {', '.join(sorted(unknown))}; known are {', '.join(machine.NEEDS)}")
        return 2
    passed = Pass("SQLite", ("tests",)).run(arguments)
    lack = machine.lack("postgres")
    if lack is None:
        postgres = Pass("PostgreSQL", ON_EVERY_DATABASE, machine.postgres_url() or "")
        passed = postgres.run(arguments) and passed
    elif "postgres" in machine.required():
        print(f"\nFAILED: TRIMUS_REQUIRE names postgres, but there is {lack}")
        passed = False
    else:
        print(f"\nLeft out: the second pass, over {', '.join(ON_EVERY_DATABASE)} on PostgreSQL: {lack}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
