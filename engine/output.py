"""What people see of a program's work while it works: kept in the database now and then, for web and worker may be on
different hosts."""

from __future__ import annotations

from collections.abc import Collection

from agents.models import Run, RunOutput
from engine.completion import storable
from engine.turns import database_turn
from issues.secrets import mask_secrets
from trimus.outages import why_out

MOST_CHARACTERS = 64_000
"""Of a run's output, its end."""

LINE = 8_000
"""So far a line's end is looked for, where the output is cut."""


class LiveOutput:
    """The output of one run. `known_secrets` are left out of it wherever they stand."""

    def __init__(self, run: Run, known_secrets: Collection[str]) -> None:
        self._run = run
        self._known_secrets = known_secrets
        self._text = ""
        self._is_cut = False
        self._has_news = False

    def add(self, text: str) -> None:
        """What is shown next."""
        if not text:
            return
        self._text += text
        self._has_news = True
        if len(self._text) > 2 * MOST_CHARACTERS:  # not with every line: it is a copy of all
            self._cut()

    def keep(self) -> None:
        """Write it down, if there is anything new. It takes a turn at the database; one that is away is tried again
        with what comes next."""
        if not self._has_news:
            return
        self._cut()
        text = mask_secrets(storable(self._text), self._known_secrets)
        try:
            with database_turn():
                RunOutput.objects.update_or_create(run=self._run, defaults={"text": text, "is_cut": self._is_cut})
        except Exception as error:
            if not why_out(error):
                raise
        else:
            self._has_news = False

    def _cut(self) -> None:
        if len(self._text) <= MOST_CHARACTERS:
            return
        end = self._text[-MOST_CHARACTERS:]
        self._text = end[end.find("\n", 0, LINE) + 1 :]  # at a line's end: half of a key would be masked nowhere
        self._is_cut = True
