"""The piece of a text in which searched words stand, with the words marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

AROUND = 90
"""Characters shown before and after the first word."""
READ = 64_000
"""Characters of a text that are looked through: all that a text may have."""


def excerpt(text: str, words: Sequence[str], *, around: int | None = AROUND) -> SafeString:
    """The text around the first of the words, on one line, escaped, with each word in `<mark>`. With `around` None
    the whole text; without any of the words its beginning."""
    line = " ".join(text[:READ].split())
    places = [match.span() for match in _pattern(words).finditer(_plain(line))] if words else []
    begin, end = 0, len(line)
    if around is not None:
        begin, end = _window(line, places[0] if places else (0, 0), around)
    parts = ["… " if begin else ""]
    for start, stop in places:
        if start >= begin and stop <= end:
            parts += [escape(line[begin:start]), "<mark>", escape(line[start:stop]), "</mark>"]
            begin = stop
    parts += [escape(line[begin:end]), " …" if end < len(line) else ""]
    return mark_safe("".join(parts))  # noqa: S308 - every piece of the text is escaped above


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Any of the words: at the beginning of a word where its script has spaces, with any signs between its parts."""
    parts = [r"[\W_]+".join(re.findall(r"[^\W_]+", _plain(word))) for word in words]
    longest_first = sorted(filter(None, parts), key=len, reverse=True)
    alternatives = [rf"(?<![^\W_]){part}" if part.isascii() else part for part in longest_first]
    return re.compile("|".join(alternatives) or r"\Z(?!\Z)", re.IGNORECASE)


def _plain(text: str) -> str:
    """The text without accents, sign for sign: places in it are places in the text."""
    return text if text.isascii() else "".join(unicodedata.normalize("NFKD", sign)[0] for sign in text)


def _window(line: str, place: tuple[int, int], around: int) -> tuple[int, int]:
    """From where to where, without cutting a word at the ends if a space is near."""
    begin, end = max(0, place[0] - around), min(len(line), place[1] + around)
    if begin:
        space = line.find(" ", begin, place[0])
        begin = space + 1 if space >= 0 else begin
    if end < len(line):
        space = line.rfind(" ", place[1], end)
        end = space if space >= 0 else end
    return begin, end
