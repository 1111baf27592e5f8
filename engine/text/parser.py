"""Takes a reply apart: verb lines and their bodies become actions, everything else is the comment.

The lines are walked once. Where a fence or a hidden block opens, the walk goes on behind its end, so whatever
the loop of `_Walk.read` meets is plain text. A body verb is settled later than its line, once its fence has
closed or its wait has ended, so what was found is put in the order of the lines at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from engine.text.grammar import ArgumentRule, BodyRule, Grammar, VerbGrammar
from engine.text.prose import prose_without
from engine.text.scanner import (
    Fence,
    ends_reasoning,
    find_fence_end,
    find_hidden_end,
    looks_like_verb,
    outdent,
    read_fence,
    read_hidden_start,
    read_trailing_fence,
    split_verb_line,
)
from engine.text.types import Action, AgentReply, Dropped, DropReason

# A line is plain text unless it begins with one of these: verbs, tags, fences, list markers before fences.
# A line that ends with ">" is looked at for a closing tag.
_TELLING_STARTS = frozenset("/<`~-+*0123456789")


def parse(reply: str, grammar: Grammar) -> AgentReply:
    """Read `reply` by the verbs of `grammar`. Any string is a reply; the time is linear in its length."""
    walk = _Walk(_lines(reply), grammar)
    walk.read()
    return walk.result()


def _lines(reply: str) -> list[str]:
    """The lines of a reply, free of what files and databases choke on.

    NUL becomes the replacement character, never nothing: deleting it could forge a verb. `str.splitlines`
    would also split at separators that no reader sees as a line end.
    """
    text = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text.split("\n")


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A body verb whose body is the next fence."""

    index: int
    verb: VerbGrammar
    args: str


class _Walk:
    def __init__(self, lines: Sequence[str], grammar: Grammar) -> None:
        self._lines = lines
        self._grammar = grammar
        self._waiting: _Waiting | None = None
        self._actions: list[Action] = []
        self._dropped: list[Dropped] = []
        self._gaps: list[range] = []

    def read(self) -> None:
        lines = self._lines
        index = 0
        while index < len(lines):
            stripped = lines[index].strip()
            if stripped and (stripped[0] in _TELLING_STARTS or stripped[-1] == ">"):
                index = self._read_line(index, stripped)
            index += 1
        self._end_wait()

    def result(self) -> AgentReply:
        self._actions.sort(key=attrgetter("line"))
        self._dropped.sort(key=attrgetter("number"))
        self._gaps.sort(key=attrgetter("start"))
        prose = prose_without(self._lines, self._gaps)
        return AgentReply(tuple(self._actions), prose, tuple(self._dropped), self._speech(prose))

    def _speech(self, prose: str) -> str:
        if not any("@" in dropped.line for dropped in self._dropped):
            return prose
        lines = list(self._lines)
        for dropped in self._dropped:
            lines[dropped.number - 1] = dropped.line.replace("@", " ")
        return prose_without(lines, self._gaps)

    def _read_line(self, index: int, stripped: str) -> int:
        """Read what begins on line `index`; the index of the last line that belongs to it."""
        if end_mark := read_hidden_start(stripped):
            return self._or_last(find_hidden_end(self._lines, index, end_mark))
        if ends_reasoning(stripped):
            self._forget()
        elif stripped[0] == "/":
            return self._read_verb_line(index, stripped)
        elif fence := read_fence(self._lines[index]):
            return self._read_fence(index, fence)
        return index

    def _read_verb_line(self, index: int, stripped: str) -> int:
        token, args = split_verb_line(stripped)
        verb = self._find_verb(token)
        if verb is None:
            if looks_like_verb(token):
                self._drop(index, DropReason.UNKNOWN_VERB)
            return index
        if verb.body is not BodyRule.NONE:
            # Even one that is dropped ends the wait of the one before: whose the next fence is, nobody knows.
            self._end_wait()
            if fence := read_trailing_fence(self._lines[index]):
                return self._read_trailing_fence(index, fence)
        if verb.argument is ArgumentRule.REQUIRED and not args:
            self._drop(index, DropReason.MISSING_ARGUMENT)
        elif verb.body is BodyRule.NONE:
            self._act(index, verb, args)
        else:
            self._waiting = _Waiting(index, verb, args)
        return index

    def _find_verb(self, token: str) -> VerbGrammar | None:
        """Case-insensitive in ASCII alone: a Kelvin sign lower-cases to k."""
        return self._grammar.get(token[1:].lower()) if token.isascii() else None

    def _read_trailing_fence(self, index: int, fence: Fence) -> int:
        """A fence that opens on the verb's own line is no body, but it is followed to its end.

        Else its content would act, and its closing line be read as an opening: all below would be inside out.
        """
        self._drop(index, DropReason.MALFORMED_FENCE)
        return self._or_last(find_fence_end(self._lines, index, fence))

    def _read_fence(self, index: int, fence: Fence) -> int:
        end = find_fence_end(self._lines, index, fence)
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            if end is None:
                self._drop(waiting.index, DropReason.MALFORMED_FENCE)
            else:
                content = self._lines[index + 1 : end]
                body = "\n".join(outdent(line, fence.column) for line in content)
                self._act(waiting.index, waiting.verb, waiting.args, body)
                self._gaps.append(range(index, end + 1))
        return self._or_last(end)

    def _end_wait(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        if waiting.verb.body is BodyRule.REQUIRED:
            self._drop(waiting.index, DropReason.MISSING_BODY)
        else:
            self._act(waiting.index, waiting.verb, waiting.args)

    def _forget(self) -> None:
        """Everything so far was reasoning: none of it acts, and none of it is a failed try to act."""
        self._waiting = None
        self._actions.clear()
        self._dropped.clear()
        self._gaps.clear()

    def _act(self, index: int, verb: VerbGrammar, args: str, body: str | None = None) -> None:
        self._actions.append(Action(verb.name, args, body, index + 1))
        self._gaps.append(range(index, index + 1))

    def _drop(self, index: int, reason: DropReason) -> None:
        self._dropped.append(Dropped(self._lines[index], index + 1, reason))

    def _or_last(self, index: int | None) -> int:
        """What nothing closes runs to the end of the reply."""
        return len(self._lines) - 1 if index is None else index
