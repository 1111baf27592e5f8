"""The kinds of programs by the name of their adapter."""

from __future__ import annotations

from agents.programs.base import ProgramSpec
from agents.programs.claude_local import CLAUDE_LOCAL
from agents.programs.codex_local import CODEX_LOCAL
from agents.programs.process import PROCESS

PROGRAMS: tuple[ProgramSpec, ...] = (CLAUDE_LOCAL, CODEX_LOCAL, PROCESS)

BY_ADAPTER = {spec.name: spec for spec in PROGRAMS}
