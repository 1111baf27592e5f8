"""A program's output as lines of JSON, one event each. Formats grow: what is unknown or no JSON is let pass."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.programs.base import Flooded, Said

LINE_BYTES = 8 * 1024 * 1024
"""A longer line is left out: what a tool of the program returned, a picture say."""

MOST_BYTES = 512 * 1024 * 1024
"""Of all lines of one run."""

MOST_REPLY = 1024 * 1024
"""Characters of a reply."""

SHOWN = 200
"""Characters that are shown of what a tool was asked."""

Event = Mapping[str, Any]


class EventListener(ABC):
    """Splits the output into lines and hands each event on. What is said is kept in `_said`."""

    def __init__(self) -> None:
        self._said = Said()
        self._rest = b""
        self._is_skipping = False
        self._bytes = 0

    @property
    def said(self) -> Said:
        return self._said

    def hear(self, piece: bytes) -> str:
        self._bytes += len(piece)
        if self._bytes > MOST_BYTES:
            raise Flooded(f"wrote more than {MOST_BYTES:,} bytes")
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if self._is_skipping and lines:
            lines, self._is_skipping = lines[1:], False
        if len(self._rest) > LINE_BYTES:
            self._rest, self._is_skipping = b"", True
        return "".join(self._line(line) for line in lines)

    def close(self) -> str:
        rest, self._rest = self._rest, b""
        return "" if self._is_skipping else self._line(rest)

    def _line(self, line: bytes) -> str:
        """What people are shown of a line. One that is no event is shown as it is: a program's last words, mostly."""
        text = line.decode(errors="replace").strip()
        if not text:
            return ""
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            return f"{text[:SHOWN]}\n"
        return self._event(event) if isinstance(event, dict) else ""

    @abstractmethod
    def _event(self, event: Event) -> str:
        """Take an event in; what people are shown of it."""

    def _say(self, **changes: Any) -> None:
        self._said = replace(self._said, **changes)

    def _reply(self, text: str) -> None:
        if len(text) > MOST_REPLY:
            raise Flooded(f"answered with more than {MOST_REPLY:,} characters")
        self._say(text=text)


def text_in(event: Event, *names: str) -> str:
    """The text under these names, one below the other; empty where there is none."""
    found: Any = event
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def part_of(event: Event, *names: str) -> Event:
    """The object under these names, empty where there is none."""
    found: Any = event
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def list_in(event: Event, name: str) -> list[Event]:
    """The objects of a list of that name."""
    found = event.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def step(kind: str, what: str = "") -> str:
    """A line that tells of one step of a program's work."""
    told = " ".join(what.split())
    if len(told) > SHOWN:
        told = f"{told[:SHOWN].rpartition(' ')[0]}…"  # whole words: half of a key would be masked nowhere
    return f"[{kind}] {told}".rstrip() + "\n"


def paragraph(text: str) -> str:
    """What the model said, set off."""
    return f"\n{text.strip()}\n\n" if text.strip() else ""
