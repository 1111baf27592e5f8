"""Any command: it reads the prompt on its standard input, and its standard output is the reply."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from agents.programs.base import Asked, Flooded, ProgramSpec, Said

MOST_BYTES = 1024 * 1024
"""Of a reply: far more than an answer with the files that it writes."""


class PlainListener:
    """Everything is the reply. What is no UTF-8 is replaced."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._pieces: list[str] = []
        self._bytes = 0

    def hear(self, piece: bytes) -> str:
        self._bytes += len(piece)
        if self._bytes > MOST_BYTES:
            raise Flooded(f"wrote more than {MOST_BYTES:,} bytes, the most that a reply may have")
        return self._add(self._decoder.decode(piece))

    def close(self) -> str:
        return self._add(self._decoder.decode(b"", final=True))

    def _add(self, text: str) -> str:
        self._pieces.append(text)
        return text

    @property
    def said(self) -> Said:
        return Said("".join(self._pieces))


def _as_it_is(words: Sequence[str], _asked: Asked) -> tuple[str, ...]:
    return tuple(words)


PROCESS = ProgramSpec("process", "A command", PlainListener, _as_it_is)
