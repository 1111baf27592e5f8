"""Whom a text mentions: an at-sign directly before a handle or name, where a reader takes it as addressed to them.

Names are compared without regard to case and to how accents are encoded; the longest that ends at a boundary of
words counts. Nothing is guessed: a word that is no name, or a name that several share, names nobody and is reported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from issues.mention_scanner import find_at_signs

# Unicode's own bound for text that is meant to be read; one more mark and it is no name (UAX 15, stream-safe text).
MAX_MARKS = 30

# Scripts that set no spaces between words, and Hangul, which sets its particles directly after a name. A letter of
# these neither continues the word before it nor is continued by an at-sign.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u31ff\u3400-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U000323af"
)
_INVISIBLE = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_LETTER = rf"(?![{_SPACELESS}])[^\W_]"
_SPACELESS_CHARACTER = re.compile(f"[{_SPACELESS}]")
# What makes a name only the beginning of something else: of a longer word (also behind a dash, dot or underscores),
# of another system's address, or of a path.
_CONTINUATION = re.compile(rf"[{_INVISIBLE}]*+[-.]?_*+{_LETTER}")
_ADDRESS = re.compile(r"@|/\S|:(?://|[\w-]++\.\w)")
_WORD = re.compile(r"[^\W_](?:[\w\u0300-\u036f]|[-.](?=[^\W_]))*+")


@dataclass(frozen=True, slots=True)
class Mentions:
    """What the at-signs of a text name, each once, in the order of first occurrence.

    `found` are entries of the known names, `unknown` are words that name nobody and names that several share.
    """

    found: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def read_mentions(text: str, known: Iterable[str], ambiguous: Iterable[str] = ()) -> Mentions:
    """The handles and names of `known` that `text` mentions, and its mentions that name nobody.

    Of entries that differ only in case or encoding the first counts, so handles go before names. `ambiguous` are
    names that several share. One that is known as well is not ambiguous, because a handle beats a name.
    """
    names = _Names()
    for name in known:
        names.add(_Name(name, is_ambiguous=False))
    for name in ambiguous:
        names.add(_Name(name, is_ambiguous=True))
    found: dict[str, None] = {}
    unknown: dict[str, str] = {}
    for paragraph, sign in find_at_signs(text):
        if not _may_begin(paragraph, sign):
            continue
        named = names.longest_at(paragraph, sign + 1)
        if named is not None and not named.is_ambiguous:
            found[named.text] = None
        elif word := named.text if named is not None else _unknown_word(paragraph, sign + 1):
            unknown.setdefault(word.casefold(), word)
    return Mentions(tuple(found), tuple(unknown.values()))


@dataclass(frozen=True, slots=True)
class _Name:
    text: str
    is_ambiguous: bool


@dataclass(slots=True)
class _Node:
    """A place in the tree of names: what may follow, and the name that is complete here."""

    following: dict[str, _Node] = field(default_factory=dict)
    name: _Name | None = None


class _Names:
    """Handles and names, to be found at a place in a text in time linear in the name."""

    def __init__(self) -> None:
        self._root = _Node()

    def add(self, name: _Name) -> None:
        """Make a name known, unless one that compares equal is already."""
        node = self._root
        text = " ".join(name.text.split())
        position = 0
        while position < len(text):
            key, position = _piece(text, position)
            for character in key:
                node = node.following.setdefault(character, _Node())
        if node.name is None:
            node.name = name

    def longest_at(self, text: str, position: int) -> _Name | None:
        """The longest name that stands at `position` and ends where a word may end."""
        node = self._root
        longest = None
        while position < len(text):
            key, position = _piece(text, position)
            for character in key:
                following = node.following.get(character)
                if following is None:
                    return longest
                node = following
            if node.name is not None and _may_end(text, position):
                longest = node.name
        return longest


def _piece(text: str, position: int) -> tuple[str, int]:
    """What to compare of the character at `position` with its combining marks, and where the next one begins.

    Comparing decomposed, case-folded pieces says the same as comparing whole texts in a composed form, without
    putting a text of unknown length into that form. A run of white space is one space, but a line end is itself.
    """
    first = text[position]
    end = position + 1
    if first != "\n" and first.isspace():
        while end < len(text) and text[end] != "\n" and text[end].isspace():
            end += 1
        return " ", end
    while end < len(text) and end - position <= MAX_MARKS and unicodedata.combining(text[end]):
        end += 1
    if end == position + 1 and first.isascii():
        return first.lower(), end
    decomposed = unicodedata.normalize("NFD", text[position:end])
    return unicodedata.normalize("NFD", decomposed.casefold()), end


def _may_begin(text: str, sign: int) -> bool:
    """Whether the at-sign begins a word, and does not join two as in an e-mail address or a path."""
    before = sign
    while before and text[before - 1] == "_":  # emphasis, unless a word stands before it
        before -= 1
    if before == 0:
        return True
    previous = text[before - 1]
    if previous in "@/" and before == sign:
        return False
    in_word = previous.isalnum() or _is_mark(previous)
    return not in_word or bool(_SPACELESS_CHARACTER.match(previous))


def _may_end(text: str, end: int) -> bool:
    if end == len(text):
        return True
    return not (_is_mark(text[end]) or _CONTINUATION.match(text, end) or _ADDRESS.match(text, end))


def _unknown_word(text: str, start: int) -> str | None:
    """The word that a failed mention would name. Addresses and paths were never meant as one."""
    word = _WORD.match(text, start)
    if word is None or _ADDRESS.match(text, word.end()):
        return None
    return word[0].rstrip("_")


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")
