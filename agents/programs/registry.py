"""The kinds of programs by the name of their adapter."""

from __future__ import annotations

from agents.programs.base import ProgramSpec
from agents.programs.process import PROCESS

PROGRAMS: tuple[ProgramSpec, ...] = (PROCESS,)

BY_ADAPTER = {spec.name: spec for spec in PROGRAMS}
