"""What one line of a reply is: a fence, a reasoning tag, the start of a hidden block, a verb line.

Every function looks at a line, or runs forward from one, in time linear in what it reads. White space means
Unicode white space throughout; zero-width characters are not white space, they are how people disarm a token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Markdown's own measures: tabs go to stops of four; a closing fence may stand up to three columns further in.
TAB_STOP = 4
CLOSING_SLACK = 3

# Possessive quantifiers keep a line of a million markers from being tried again in every other way.
_FENCE = re.compile(
    r"(?P<indent>\s*+(?:(?:[-+*]|[0-9]{1,9}[.)])\s++)*+)(?P<run>`{3,}+|~{3,}+)(?P<info>.*+)",
)
_TRAILING_RUN = re.compile(r"(?<!`)(?P<ticks>`{3,}+)[^`]*+$|(?<!\S)(?P<tildes>~{3,}+)[^~]*+$")
_RUNS = {"`": re.compile("`+"), "~": re.compile("~+")}

# ASCII letters only: under Unicode's case folding a long s or a Kelvin sign would spell a tag, too.
_HIDDEN_START = re.compile(
    r"\s*+(?:(?ai:<(?P<reasoning>think|thinking|reasoning)>)"
    r"|(?P<comment><!--)"
    r"|(?ai:<(?P<raw>pre|script|style|textarea))(?=[\s>]|$))",
)
_HIDDEN_END = {
    name: re.compile(rf"(?ai:</{name})\s*+>")
    for name in ("think", "thinking", "reasoning", "pre", "script", "style", "textarea")
}
_COMMENT_END = re.compile("-->")
_REASONING_END = re.compile(r"(?ai:</(?:think|thinking|reasoning))\s*+>")


@dataclass(frozen=True, slots=True)
class Fence:
    """A line that is a fence. `column` is where its run of back-ticks or tildes starts, counted from 0.

    `bare` says that nothing else stands on the line. Only a bare line can close a fence; because any other
    cannot, it opens a nested fence.
    """

    character: str
    length: int
    column: int
    bare: bool

    def closes(self, opening: Fence) -> bool:
        return self.bare and self._matches(opening) and self.column <= opening.column + CLOSING_SLACK

    def nests_in(self, opening: Fence) -> bool:
        return not self.bare and self._matches(opening)

    def _matches(self, opening: Fence) -> bool:
        return self.character == opening.character and self.length >= opening.length


def read_fence(line: str) -> Fence | None:
    """The fence that `line` is, if it is one.

    Indentation and list markers may stand before it. Back-ticks in its info string make it a code span.
    """
    match = _FENCE.match(line)
    if match is None:
        return None
    indent, run, info = match["indent"], match["run"], match["info"]
    if run[0] == "`" and "`" in info:
        return None
    bare = not indent.strip() and not info.strip()
    return Fence(run[0], len(run), column=_width(indent), bare=bare)


def read_trailing_fence(verb_line: str) -> Fence | None:
    """The fence that a verb line opens at its own end, as in `/write-file a.py` followed by three back-ticks.

    A run whose twin stands before it on the line closes a code span and opens nothing.
    """
    match = _TRAILING_RUN.search(verb_line)
    if match is None:
        return None
    run = match["ticks"] or match["tildes"]
    if _RUNS[run[0]].findall(verb_line).count(run) % 2 == 0:
        return None
    indent = verb_line[: len(verb_line) - len(verb_line.lstrip())]
    return Fence(run[0], len(run), column=_width(indent), bare=False)


def find_fence_end(lines: Sequence[str], start: int, opening: Fence) -> int | None:
    """The index of the line that closes the fence opened on line `start`, past all fences nested in it."""
    unclosed = [opening]
    run = opening.character * opening.length
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if run not in line:
            continue
        fence = read_fence(line)
        if fence is None:
            continue
        if fence.closes(unclosed[-1]):
            unclosed.pop()
            if not unclosed:
                return index
        elif fence.nests_in(unclosed[-1]):
            unclosed.append(fence)
    return None


def outdent(line: str, columns: int) -> str:
    """`line` without the white space in its first `columns` columns. A tab reaching further stays whole."""
    column = 0
    for position, character in enumerate(line):
        column += TAB_STOP - column % TAB_STOP if character == "\t" else 1
        if column > columns or not character.isspace():
            return line[position:]
    return ""


def read_hidden_start(line: str) -> re.Pattern[str] | None:
    """The mark that ends the hidden block which begins with this line, if one does."""
    match = _HIDDEN_START.match(line)
    return None if match is None else _end_mark(match)


def find_hidden_end(lines: Sequence[str], start: int, end_mark: re.Pattern[str]) -> int | None:
    """The index of the line on which the hidden block opened on line `start` ends.

    A block that begins right after the end of another, on the same line, is hidden with it.
    """
    position = 0
    for index in range(start, len(lines)):
        line = lines[index]
        while end := end_mark.search(line, position):
            start_again = _HIDDEN_START.match(line, end.end())
            if start_again is None:
                return index
            end_mark, position = _end_mark(start_again), start_again.end()
        position = 0
    return None


def ends_reasoning(line: str) -> bool:
    """Whether a closing reasoning tag begins or ends `line`. In the middle of one or in a quotation it is text.

    Templates that open the reasoning themselves leave such a tag without its opening, on a line of its own or
    directly after the last word.
    """
    stripped = line.strip()
    if "</" not in stripped or stripped[0] == ">":
        return False
    last_tag = stripped.rfind("</")
    return bool(_REASONING_END.match(stripped) or _REASONING_END.fullmatch(stripped, last_tag))


def split_verb_line(line: str) -> tuple[str, str]:
    """Token and argument of a line that begins with a slash: `/Status done ` gives `/Status` and `done`."""
    token, *rest = line.split(maxsplit=1)
    return token, rest[0].rstrip() if rest else ""


def looks_like_verb(token: str) -> bool:
    """Whether a token that is no verb was perhaps meant as one. Paths, comments and patterns were not."""
    word = token[1:]
    return "/" not in word and (word[:1].isalpha() or not word.isascii())


def _end_mark(start: re.Match[str]) -> re.Pattern[str]:
    if start["comment"]:
        return _COMMENT_END
    return _HIDDEN_END[(start["reasoning"] or start["raw"]).lower()]


def _width(indent: str) -> int:
    return len(indent.expandtabs(TAB_STOP))
