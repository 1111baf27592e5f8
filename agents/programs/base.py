"""What there is to know of a kind of program: how it is called, and what its output means."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agents.adapters.base import Usage


class Unusable(Exception):
    """A program that cannot be run as it is set; the message says what to do about it."""


class Flooded(Exception):
    """A program that wrote more than anybody reads; the message says how much that is."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a program has said so far. `text` is its reply and `failure` why it has none, in its own words. `usage` is
    None where it told none, `model` and `session` are empty. `has_begun`: it has shown some work."""

    text: str = ""
    failure: str = ""
    usage: Usage | None = None
    model: str = ""
    session: str = ""
    has_begun: bool = False


class Listener(Protocol):
    """Understands the output of one run of a program."""

    def hear(self, piece: bytes) -> str:
        """The next piece; what of it people are shown, which may be nothing yet. Raises Flooded."""
        ...

    def close(self) -> str:
        """No more comes; the rest of what people are shown."""
        ...

    @property
    def said(self) -> Said:
        """What it has said so far."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What a program is asked for beside its prompt: a model, empty for its own choice, and a session to go on with,
    empty for a new one."""

    model: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """A kind of program. `label` is its name for people.

    `standard` is what is started where an agent's command is empty; empty: a command is needed. `install` says how to
    get that. `arguments` makes the whole command line of the words of a command. `skills_folder` is where in its folder
    it looks for skills, `asks` the vendor whose models it asks; both empty where nobody knows. `counts_sessions`: the
    use that it tells is that of the whole session, its former runs included.
    """

    name: str
    label: str
    listener: Callable[[], Listener]
    arguments: Callable[[Sequence[str], Asked], tuple[str, ...]]
    standard: tuple[str, ...] = ()
    install: str = ""
    skills_folder: tuple[str, ...] = ()
    asks: str = ""
    counts_sessions: bool = False

    def command_line(self, command: str, asked: Asked, path: str) -> tuple[str, ...]:
        """The command line for an agent's command, with the program as it is found on `path`. Raises Unusable."""
        words = self.words(command)
        found = shutil.which(words[0], path=path)
        if found is None:
            hint = f" {self.install}" if words[0] in self.standard[:1] else ""
            raise Unusable(f"The server has no program “{words[0]}”.{hint}")
        return self.arguments((found, *words[1:]), asked)

    def words(self, command: str) -> tuple[str, ...]:
        """The words of an agent's command, as a shell would split them; no shell ever sees them. Raises Unusable."""
        try:
            words = tuple(shlex.split(command)) or self.standard
        except ValueError:
            raise Unusable("The command has a quotation mark that is not closed.") from None
        if not words:
            raise Unusable("The command is empty: it says which program is run.")
        if "/" in words[0] and not Path(words[0]).is_absolute():
            # It would be looked for in the workspace, where agents write.
            raise Unusable(f"“{words[0]}” is no whole path. Give one, or the bare name of a program.")
        return words
