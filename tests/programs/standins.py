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

CLAUDE = """
    import json, os, sys
    given = sys.stdin.read()
    asked = sys.argv[1:]
    with (told / "asked").open("a") as file:
        file.write(json.dumps(asked) + "\\n")
    forgotten = "--resume" in asked and (told / "forgotten").exists()
    session = asked[asked.index("--resume") + 1] if "--resume" in asked else "s-1"

    def say(**event):
        print(json.dumps(event), flush=True)

    usage = {"input_tokens": 100, "cache_read_input_tokens": 50, "output_tokens": 20}
    result = {"type": "result", "subtype": "success", "is_error": False, "session_id": session}
    if forgotten:
        say(**result | {"is_error": True, "subtype": "error_during_execution", "errors": ["No conversation found"]})
        sys.exit(1)
    say(type="system", subtype="init", session_id=session, model="claude-sonnet-5")
    said = [{"type": "text", "text": "I look first."}]
    say(type="assistant", session_id=session, message={"id": "m-1", "content": said, "usage": usage})
    WORK
    say(**result, result="Planned.\\n/status done", usage=usage, total_cost_usd=0.25)
    """
"""Speaks as Claude Code does, and notes its arguments. It knows no session when there is a file `forgotten`, and does
what stands in the place of WORK before its end."""

CODEX = """
    import json, sys
    given = sys.stdin.read()
    asked = sys.argv[1:]
    with (told / "asked").open("a") as file:
        file.write(json.dumps(asked) + "\\n")
    runs = len((told / "asked").read_text().splitlines())
    usage = {"input_tokens": 1_000 * runs, "cached_input_tokens": 400 * runs, "output_tokens": 50 * runs}
    for event in (
        {"type": "thread.started", "thread_id": "c-1"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": f"Run {runs}."}},
        {"type": "turn.completed", "usage": usage},
    ):
        print(json.dumps(event), flush=True)
    """
"""Speaks as Codex does: its tokens are those of the session so far."""
