"""Reading the text of an attached file, so that agents can be shown it.

Plain text is decoded at once. PDF and Office files are read in a child process with limits: they are written by
strangers, and what reads them is large.
"""

from __future__ import annotations

from issues.extraction.kinds import EXTRACTED, kind_of
from issues.extraction.limits import TEXT_CHARACTERS, Extracted, failed
from issues.extraction.plain import read_plain
from issues.extraction.process import read_in_child
from issues.models import Extraction

__all__ = ["TEXT_CHARACTERS", "Extracted", "extract_at_once", "extract_slowly", "failed"]


def extract_at_once(name: str, content: bytes) -> Extracted:
    """What kind of file it is, by its content, and the text of a plain one; `PENDING` for what is read slowly."""
    kind = kind_of(name, content)
    if kind in EXTRACTED:
        return Extracted(kind, Extraction.PENDING)
    if kind.startswith("text/") or kind == "application/json":
        return read_plain(kind, content)
    return Extracted(kind, Extraction.UNSUPPORTED)


def extract_slowly(media_type: str, content: bytes) -> Extracted:
    """The text of a PDF or Office file, or why it cannot be read. Takes up to 10 seconds."""
    return read_in_child(media_type, content)
