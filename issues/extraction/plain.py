"""Plain text, Markdown, CSV and JSON, in the encodings that people's programs write."""

from __future__ import annotations

import codecs
import re

from issues.extraction.limits import Extracted, done, failed

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def read_plain(media_type: str, content: bytes) -> Extracted:
    """The text in UTF-8, in UTF-16 with its mark, or else in the encoding of older Windows programs."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if is_utf16 else ("utf-8-sig", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "cp1252" and _CONTROL.search(text):  # nearly any bytes can be read so
            break
        return done(media_type, text)
    return failed("application/octet-stream", "it is not a text in UTF-8")
