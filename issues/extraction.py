"""Reading the text of an attached file, so that agents can be shown it."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass

from issues.models import Extraction

TEXT_CHARACTERS = 200_000
"""Of a file's text this much is kept; more never fits a prompt."""

_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
)
_TEXT_TYPES = {
    "application/json": "application/json",
    "text/csv": "text/csv",
    "text/markdown": "text/markdown",
}


@dataclass(frozen=True, slots=True)
class Extracted:
    """What kind of file it is by its content, and what could be read from it."""

    media_type: str
    extraction: Extraction
    text: str = ""


def extract_text(name: str, content: bytes) -> Extracted:
    """Read plain text, Markdown, CSV and JSON in UTF-8. Other kinds are named by their signature and not read."""
    for signature, media_type in _SIGNATURES:
        if content.startswith(signature):
            return Extracted(media_type, Extraction.UNSUPPORTED)
    if b"\x00" in content:
        return Extracted("application/octet-stream", Extraction.UNSUPPORTED)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Extracted("application/octet-stream", Extraction.FAILED)
    guessed, _ = mimetypes.guess_type(name)
    return Extracted(_TEXT_TYPES.get(guessed or "", "text/plain"), Extraction.DONE, text[:TEXT_CHARACTERS])
