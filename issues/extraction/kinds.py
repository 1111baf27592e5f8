"""What a file is, told from its content; a name only says which kind of text a text is."""

from __future__ import annotations

import io
import mimetypes
import zipfile

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ZIP = "application/zip"
BINARY = "application/octet-stream"

EXTRACTED = {PDF: "pdf", DOCX: "docx", XLSX: "xlsx"}
"""The kinds that are read in a child process, and what it calls them."""

_SIGNATURES = (
    (b"%PDF-", PDF),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", ZIP),
    # Word and Excel before 2007, and newer files that are encrypted.
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
)
_PARTS = (("word/document.xml", DOCX), ("xl/workbook.xml", XLSX))
_TEXTS = frozenset({"application/json", "text/csv", "text/markdown"})
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def kind_of(name: str, content: bytes) -> str:
    """The media type."""
    for signature, media_type in _SIGNATURES:
        if content.startswith(signature):
            return _in_archive(content) if media_type == ZIP else media_type
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if b"\x00" in content and not content.startswith(_UTF16):
        return BINARY
    guessed, _ = mimetypes.guess_type(name)
    return guessed if guessed in _TEXTS else "text/plain"


def _in_archive(content: bytes) -> str:
    """Office files are archives with a certain part. Only the list of contents is read here."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError):
        return ZIP
    return next((media_type for part, media_type in _PARTS if part in names), ZIP)
