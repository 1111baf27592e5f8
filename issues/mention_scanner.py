"""Where a Markdown text addresses somebody: its at-signs outside code, quotations, links' targets and raw HTML.

The text is cut into paragraphs first, because neither a code span nor a tag reaches over the end of one, and each is
then walked once from left to right. Both are linear in the text. What is code or a link is decided as the page that
shows the text decides it, so that whoever looks addressed is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Markdown's own measures, in columns.
TAB_STOP = 4
CODE_INDENT = 4  # that many columns further in than its surroundings, a block is code
CLOSING_SLACK = 3  # so much further in than the opening one a closing fence may stand

_MARKER = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?:[^\S\n]++|$)")
_FENCE = re.compile(r"(?P<run>`{3,}+(?!.*`)|~{3,}+)")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_DEFINITION = re.compile(r"\[(?!\^)[^\[\]]++\]:\s*+\S++(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+")
_REASONING_END = re.compile(r"</(?:think|thinking|reasoning)\s*+>", re.IGNORECASE)
_HIDDEN_START = re.compile(
    r"<(?:(?P<reasoning>think|thinking|reasoning)>|(?P<raw>pre|script|style|textarea)(?=[\s>]|$)|!--)",
    re.IGNORECASE,
)

# A run of one character that can change what follows. It begins with a set, which makes the search a fast one.
_TELLING = re.compile(r"([\\`<\[\]:@])\1*+")
# Where a URL ends for a reader: at white space, a bracket of a tag, a quotation mark, or punctuation that is not ASCII.
_URL_REST = re.compile(
    '[^\\s<>"`\u2014\u2018-\u201f\u2026\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]*+'
)
_LINK_TARGET = re.compile(
    r"\(\s*+(?:<[^<>\n]*+>|(?:[^\s()\\]|\\.|\([^\s()]*+\))*+)"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+\)"
)
# However many unfinished tags a text holds, at most three of these matches run over the same place: one outside of
# quotation marks and one inside each kind, which no further mark can bring to the same state.
_TAG = re.compile(
    r"</?+(?P<name>[A-Za-z][A-Za-z0-9-]*+)"
    r"(?:\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)*+\s*+/?+>"
    r"|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+>"
)
_CODE_ELEMENTS = frozenset({"code", "kbd", "pre", "samp", "script", "style", "textarea"})
_DELIMITED = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", "?>"))


def find_at_signs(text: str) -> Iterator[tuple[str, int]]:
    """Each single at-sign that may address somebody, as a paragraph and the sign's place in it."""
    if "@" not in text:
        return
    for paragraph in _Blocks(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")).paragraphs():
        if "@" in paragraph:
            yield from ((paragraph, position) for position in _Inline(paragraph).at_signs())


class _Blocks:
    """Cuts lines into paragraphs, leaving out what is code, quoted or hidden."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._paragraphs: list[str] = []
        self._open: list[str] = []  # the lines of the paragraph that is being read
        self._items: list[int] = []  # the columns where the texts of the open list items begin

    def paragraphs(self) -> list[str]:
        index = 0
        while index < len(self._lines):
            line = self._lines[index]
            if line and not line.isspace():
                index = self._read_line(index, line)
            else:
                self._close()
            index += 1
        self._close()
        return self._paragraphs

    def _close(self) -> None:
        if self._open:
            self._paragraphs.append("\n".join(self._open))
            self._open.clear()

    def _read_line(self, index: int, line: str) -> int:
        """Read what begins on line `index`; the index of the last line that belongs to it."""
        start, column = self._enter_items(line)
        if self._is_deep(column):
            if self._open and line[start] != ">":
                self._open.append(line)
        elif hidden := _HIDDEN_START.match(line, start):
            return self._skip_hidden(index, hidden)
        elif fence := _FENCE.match(line, start):
            self._close()
            return self._fence_end(index, fence["run"], column)
        elif line[start] == ">":
            self._close()
        elif reasoning_end := self._reasoning_end(line, start):
            self._open.clear()
            self._paragraphs.clear()
            self._open_with(line[reasoning_end:])
        else:
            self._read_text(line, start)
        return index

    def _read_text(self, line: str, start: int) -> None:
        if line[start] == "|":  # perhaps a row of a table, whose code spans end with it
            self._close()
        if _HEADING.match(line, start):
            self._close()
            self._open.append(line)
            self._close()
        elif self._open or not _DEFINITION.fullmatch(line, start):
            self._open.append(line)

    def _is_deep(self, column: int) -> bool:
        """Whether a line is so far in that it is code, or the continuation of the open paragraph and nothing else."""
        return column - (self._items[-1] if self._items else 0) >= CODE_INDENT

    def _enter_items(self, line: str) -> tuple[int, int]:
        """Where the line's text begins behind indentation and list markers, as a position and as a column."""
        start = len(line) - len(line.lstrip())
        column = _column(0, line[:start])
        marker = _MARKER.match(line, start)
        if marker or not self._open:
            while self._items and column < self._items[-1]:
                self._items.pop()
        while marker and marker.end() < len(line) and not self._is_deep(column):
            self._close()
            marker_end = column + len(marker[0].rstrip())
            start, column = marker.end(), _column(column, marker[0])
            # White space so wide that it makes code is the code's own; the item's text begins behind one space.
            self._items.append(column if column - marker_end <= CODE_INDENT else marker_end + 1)
            marker = _MARKER.match(line, start)
        return start, column

    def _skip_hidden(self, index: int, hidden: re.Match[str]) -> int:
        """Leave out a comment, reasoning or raw element up to its end; what follows on that line is text."""
        self._close()
        name = hidden["reasoning"] or hidden["raw"]
        end_mark = re.compile(rf"</{name}\s*+>" if name else "-->", re.IGNORECASE)
        position = hidden.start() + len("<!")  # so that <!--> ends itself
        for last in range(index, len(self._lines)):
            if end := end_mark.search(self._lines[last], position):
                self._open_with(self._lines[last][end.end() :])
                return last
            position = 0
        return len(self._lines) - 1

    def _fence_end(self, index: int, run: str, column: int) -> int:
        """The last line of the fenced block that opens in `column`. As on the page, no fence nests in another."""
        for last in range(index + 1, len(self._lines)):
            line = self._lines[last]
            if run not in line or line.strip().strip(run[0]):
                continue
            if _column(0, line[: line.index(run)]) <= column + CLOSING_SLACK:
                return last
        return len(self._lines) - 1

    def _open_with(self, rest: str) -> None:
        """Begin a paragraph with what is left of a line, if anything is."""
        if rest and not rest.isspace():
            self._open.append(rest)

    @staticmethod
    def _reasoning_end(line: str, start: int) -> int | None:
        """Where a closing reasoning tag ends that begins or ends the line: what stands above was not said."""
        if end := _REASONING_END.match(line, start):
            return end.end()
        last_tag = line.rfind("</")
        if last_tag >= 0 and _REASONING_END.fullmatch(line.rstrip(), last_tag):
            return len(line)
        return None


class _Inline:
    """Walks a paragraph and skips what is no speech in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tick_ends: dict[int, list[int]] | None = None
        self._absent: set[str] = set()

    def at_signs(self) -> Iterator[int]:
        text = self._text
        position = brackets = 0
        while telling := _TELLING.search(text, position):
            run, position = telling[0], telling.end()
            match run[0]:
                case "@" if len(run) == 1:
                    yield telling.start()
                case "\\":
                    position += len(run) % 2  # an odd one escapes what follows
                case "`":
                    position = self._code_span_end(position, len(run))
                case "<":
                    position = self._tag_end(position - 1)
                case ":" if text.startswith("//", position):
                    position = self._match_end(_URL_REST, position)
                case "[":
                    brackets += len(run)
                case "]":
                    if brackets >= len(run):
                        position = self._match_end(_LINK_TARGET, position)
                    brackets = max(0, brackets - len(run))

    def _match_end(self, pattern: re.Pattern[str], position: int) -> int:
        found = pattern.match(self._text, position)
        return found.end() if found else position

    def _code_span_end(self, position: int, length: int) -> int:
        """Behind the next run of exactly `length` back-ticks; `position` itself if there is none."""
        if self._tick_ends is None:
            self._tick_ends = {}
            for run in reversed(list(re.finditer("`++", self._text))):
                self._tick_ends.setdefault(len(run[0]), []).append(run.end())
        ends = self._tick_ends.get(length, [])
        while ends and ends[-1] - length < position:  # positions only grow, so what lies behind is done with
            ends.pop()
        return ends[-1] if ends else position

    def _tag_end(self, start: int) -> int:
        """Behind the tag, comment, autolink or whole code element at `start`; one on if there is none."""
        if tag := _TAG.match(self._text, start):
            name = (tag["name"] or "").lower()
            if name in _CODE_ELEMENTS and self._text[start + 1] != "/":
                return self._behind(rf"(?i:</{name})\s*+>", tag.end()) or tag.end()
            return tag.end()
        for opening, closing in _DELIMITED:
            if self._text.startswith(opening, start):
                return self._behind(re.escape(closing), start + len("<!")) or start + 1
        return start + 1

    def _behind(self, pattern: str, position: int) -> int | None:
        """The end of the next match. What was not found once will not be found further on, and is not sought."""
        if pattern in self._absent:
            return None
        found = re.compile(pattern).search(self._text, position)
        if found is None:
            self._absent.add(pattern)
            return None
        return found.end()


def _column(start: int, text: str) -> int:
    """The column behind `text` that begins in column `start`."""
    offset = start % TAB_STOP
    return start - offset + len((" " * offset + text).expandtabs(TAB_STOP))
