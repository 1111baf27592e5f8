"""Small programs that stand in for those that people install, and agents that run them."""

from __future__ import annotations

import shlex
import sys
import textwrap
from pathlib import Path
from typing import Any

from agents.models import Agent
from issues.models import Company
from tests import build


class StandIns:
    """Writes programs of Python into a folder, and hires agents that run them."""

    def __init__(self, company: Company, folder: Path) -> None:
        self._company = company
        self._folder = folder

    def command(self, source: str, name: str = "program") -> str:
        """The command that runs this source. What a test wants to know of it, it writes into this folder as `told`."""
        path = self._folder / f"{name}.py"
        path.write_text(f"from pathlib import Path\ntold = Path({str(self._folder)!r})\n{textwrap.dedent(source)}")
        return shlex.join((sys.executable, "-I", "-S", str(path)))

    def hire(self, source: str, name: str = "Ada", **fields: Any) -> Agent:
        return build.agent(self._company, name, **{"adapter": "process"} | fields, command=self.command(source, name))

    def told(self, name: str = "told") -> str:
        """What a program wrote, empty before it did."""
        path = self._folder / name
        return path.read_text() if path.exists() else ""


NOTED = "print('Noted.')"

WAITS = """
    import os, time
    (told / "told").write_text(str(os.getpid()))
    print("At it.", flush=True)
    time.sleep(600)
    """
"""Says that it has begun, with its number, and ends only when it is ended."""
