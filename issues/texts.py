"""Limits on what is written, checked once, where it enters."""

from __future__ import annotations

import re
import unicodedata

from issues.refusals import Invalid, TooLarge

TEXT_BYTES = 64_000
"""A description, comment or other long text, in UTF-8; more goes into an attachment."""


_LEADING_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*+\n)+")


def check_text(value: str, field: str, *, required: bool = False, limit: int = TEXT_BYTES) -> str:
    """The text with line ends as LF and no blank lines around it. Invalid or TooLarge otherwise.

    The indentation of its first line stays: in Markdown it makes code of what would act as text.
    """
    text = _LEADING_BLANK_LINES.sub("", value.replace("\r\n", "\n").replace("\r", "\n").rstrip())
    if "\x00" in text:
        raise Invalid(f"The {field} holds a NUL character.", field=field)
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Invalid(f"The {field} holds half of a surrogate pair.", field=field) from None
    if size > limit:
        raise TooLarge(
            f"The {field} has {size:,} bytes; at most {limit:,} fit.",
            "Attach longer texts as a file.",
            field=field,
        )
    if required and not text:
        raise Invalid(f"The {field} is empty.", field=field)
    return text


def check_line(value: str, field: str, *, limit: int, required: bool = True) -> str:
    """A text on one line: runs of white space become one space. `limit` is in characters."""
    line = " ".join(check_text(value, field, limit=limit * 8).split())
    if required and not line:
        raise Invalid(f"The {field} is empty.", field=field)
    if len(line) > limit:
        raise Invalid(f"The {field} has {len(line):,} characters; at most {limit} fit.", field=field)
    return line


def fold(name: str) -> str:
    """The form in which names are compared: NFC and case-folded."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
