"""How far a long work has come, in few words."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Told = Callable[[str], object]
"""Takes a line for whoever waits."""

STEPS = 10
"""Lines for one part of the work at most."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


@dataclass(slots=True)
class Meter:
    """Counts bytes of one part, and tells at each tenth."""

    what: str
    total: int
    told: Told
    _done: int = field(default=0, init=False)
    _step: int = field(default=0, init=False)

    def add(self, count: int) -> None:
        self.reach(self._done + count)

    def reach(self, done: int) -> None:
        self._done = done
        step = STEPS * done // self.total if self.total else STEPS
        if step > self._step:
            self._step = step
            self.told(f"{self.what}: {step * 100 // STEPS} % of {in_words(self.total)}")


def in_words(size: int) -> str:
    """A number of bytes for people."""
    shown, unit = float(size), 0
    while shown >= 1000 and unit < len(_UNITS) - 1:
        shown, unit = shown / 1000, unit + 1
    return f"{shown:.1f} {_UNITS[unit]}" if unit else f"{size} bytes"


def room_in(folder: Path) -> str:
    """How much the disk still takes, for errors that do not say that it is full."""
    return f"{in_words(shutil.disk_usage(folder).free)} are free in {folder}"
