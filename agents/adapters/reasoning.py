"""Thinking that some models write into their answer, between tags of their own."""

from __future__ import annotations

import re

_TAGS = r"think|thinking|reasoning"
_OPENING = re.compile(rf"\s*<({_TAGS})>", re.IGNORECASE)
_CLOSING = re.compile(rf"\s*</(?:{_TAGS})>", re.IGNORECASE)
# Other raw blocks, in which a tag is only text.
_RAW_OPENING = re.compile(r"\s*<(?:(!--)|(pre|script|style|textarea)\b)", re.IGNORECASE)
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)


def visible_text(text: str) -> str:
    """The answer without its thinking; the same text, unchanged, if there is none.

    Thinking stands between tags that begin a line outside of code. One that is never closed reaches to the
    end; a closing tag that nothing opened ends thinking that began with the answer, as when the opening one
    was part of the prompt. Blank lines around what goes become at most one.
    """
    walk = _Walk()
    for line in text.split("\n"):
        walk.line(line)
    return "\n".join(walk.kept).rstrip("\n") if walk.removed else text


class _Walk:
    """One pass over the lines. At any time it is in plain text, in a fence, in a raw block or in thinking."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.removed = False
        self._fences: list[str] = []
        self._raw_end: re.Pattern[str] | None = None
        self._thinking_end: re.Pattern[str] | None = None
        self._at_gap = False

    def line(self, line: str) -> None:
        if self._thinking_end:
            self._in_thinking(line)
        elif self._raw_end:
            self._keep(line)
            if self._raw_end.search(line):
                self._raw_end = None
        elif self._fences:
            self._keep(line)
            self._in_fence(line)
        else:
            self._in_text(line)

    def _in_text(self, line: str) -> None:
        if opening := _OPENING.match(line):
            self._gap()
            self._thinking_end = re.compile(rf"</{opening[1]}>", re.IGNORECASE)
            self._in_thinking(line[opening.end() :])
        elif closing := _CLOSING.match(line):
            self.kept.clear()
            self._gap()
            self._after_thinking(line[closing.end() :])
        else:
            self._keep(line)
            if raw := _RAW_OPENING.match(line):
                end = re.compile("-->" if raw[1] else rf"</{raw[2]}>", re.IGNORECASE)
                self._raw_end = None if end.search(line, raw.end()) else end
            elif fence := _FENCE.match(line):
                self._fences.append(fence[1])

    def _in_thinking(self, line: str) -> None:
        end = self._thinking_end.search(line) if self._thinking_end else None
        if end:
            self._thinking_end = None
            self._after_thinking(line[end.end() :])

    def _after_thinking(self, rest: str) -> None:
        if rest.strip():
            self._in_text(rest)

    def _in_fence(self, line: str) -> None:
        fence = _FENCE.match(line)
        if not fence or fence[1][0] != self._fences[-1][0] or len(fence[1]) < len(self._fences[-1]):
            return
        if fence[2].strip():
            self._fences.append(fence[1])  # one with a word beside it opens another inside
        else:
            self._fences.pop()

    def _gap(self) -> None:
        self.removed = self._at_gap = True

    def _keep(self, line: str) -> None:
        if self._at_gap and not line.strip():
            if not self.kept or not self.kept[-1].strip():
                return
        elif line.strip():
            self._at_gap = False
        self.kept.append(line)
