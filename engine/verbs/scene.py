"""Where verbs act: the agent, its run and issue, and what the reply has made so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from agents.models import Run
from issues.actors import Worker
from issues.directory import Directory
from issues.models import Company, Issue


@dataclass
class Scene:
    """One reply being applied. `prose` is its comment; `made` are the issues it has created, by title.

    `afterwards` holds what waits until all of the reply's issues exist; each answers a remark for the action that
    asked for it, empty if all went well.
    """

    actor: Worker
    issue: Issue
    run: Run
    prose: str = ""
    made: dict[str, Issue] = field(default_factory=dict)
    afterwards: list[tuple[int, Callable[[], str]]] = field(default_factory=list)
    ordinal: int = 0

    @property
    def company(self) -> Company:
        return self.issue.company

    @cached_property
    def directory(self) -> Directory:
        """Who can be named, read once a reply."""
        return Directory(self.company)

    def when_all_exist(self, step: Callable[[], str]) -> None:
        """Do this once all of the reply's issues exist, on behalf of the present action."""
        self.afterwards.append((self.ordinal, step))
