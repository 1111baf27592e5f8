"""What reading a file may take, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from issues.models import Extraction

TEXT_CHARACTERS = 200_000
"""Of a file's text this much is kept; more never fits a prompt."""

SECONDS = 10.0
"""For one file, waiting for a place included: a person waits for it."""

AT_ONCE = 2
"""Files that one process has read at a time: each may take a processor and the memory allowed."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What kind of file it is by its content, and what could be read from it.

    `why` says what kept the text from being read, as words that follow "could not be read: ".
    """

    media_type: str
    extraction: Extraction
    text: str = ""
    why: str = ""


def failed(media_type: str, why: str) -> Extracted:
    return Extracted(media_type, Extraction.FAILED, why=why)


def done(media_type: str, text: str) -> Extracted:
    """The text as any database can hold it, cut to what is kept."""
    storable = text[:TEXT_CHARACTERS].replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return Extracted(media_type, Extraction.DONE, storable)
