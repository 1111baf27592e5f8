"""A company while it is made from a file: who and what the rows that follow can name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar

from agents.imports.archive import Archive, Row
from agents.models import Agent
from issues.actors import Person
from issues.models import Company, Issue, Label, Member, Project

T = TypeVar("T")


@dataclass(slots=True)
class House:
    """`owner` is who imports it, and its first owner. `issues` are by their numbers, all else by handle or name."""

    archive: Archive
    company: Company
    owner: Person
    members: dict[str, Member] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    projects: dict[str, Project] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    made: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)

    def member(self, row: Row, name: str) -> Member | None:
        return self._named(self.members, row, name, "member")

    def agent(self, row: Row, name: str) -> Agent | None:
        return self._named(self.agents, row, name, "agent")

    def somebody(self, row: Row, name: str) -> Agent | Member | None:
        """The agent or member of the handle that stands there; None where none does."""
        return self.agents.get(row.text(name)) or self.member(row, name)

    def project(self, row: Row) -> Project | None:
        return self._named(self.projects, row, "project", "project")

    def issue(self, row: Row) -> Issue:
        issue = self.issues.get(row.whole("issue") or 0)
        if issue is None:
            raise row.refused("it is of an issue that is not in the file.")
        return issue

    @staticmethod
    def _named(known: dict[str, T], row: Row, name: str, kind: str) -> T | None:
        word = row.text(name)
        if not word:
            return None
        if word not in known:
            raise row.refused(f"there is no {kind} “{word[:60]}” in the file.")
        return known[word]
