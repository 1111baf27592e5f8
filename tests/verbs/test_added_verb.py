"""A verb is added by one module and one line of the registry: everything else finds it there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_an_added_verb_is_found_everywhere_and_tried_like_the_others() -> None:
    """In a process of its own, because whoever has read the registry keeps it."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.verbs.added.plugin", "-p", "no:cacheprovider"]
    files = ["tests/verbs/test_every_verb.py", "tests/verbs/added/everywhere.py"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(
        [*command, *files, "-k", "poke"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "23 passed" in ended.stdout
