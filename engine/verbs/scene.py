"""Where verbs act: the agent, its run and issue, and what the reply has made so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from agents.models import Agent, Run
from issues.actors import Person, Worker
from issues.directory import Directory
from issues.effects import savepoint
from issues.models import Company, Issue, Member
from issues.refusals import Forbidden, NotFound


@dataclass
class Scene:
    """One reply being applied, or a list of actions that somebody sent. `prose` is its comment; `made` are the issues
    it has created, by title, and `proposed` the titles of those that wait for the board's yes. An agent acts in a run,
    a person without one.

    `afterwards` holds what waits until all of the reply's issues exist; each answers a remark for the action that
    asked for it, empty if all went well.
    """

    actor: Person | Worker
    issue: Issue
    run: Run | None = None
    prose: str = ""
    made: dict[str, list[Issue]] = field(default_factory=dict)
    proposed: set[str] = field(default_factory=set)
    afterwards: list[tuple[int, Callable[[], str]]] = field(default_factory=list)
    ordinal: int = 0

    @property
    def company(self) -> Company:
        return self.issue.company

    @property
    def worker(self) -> Worker:
        """The actor, where only an agent makes sense. Forbidden for a person."""
        if isinstance(self.actor, Person):
            raise Forbidden("Only an agent does this.")
        return self.actor

    @property
    def oneself(self) -> Agent | Member:
        """Whom `me` names."""
        if isinstance(self.actor, Worker):
            agent: Agent = self.actor.agent
            return agent
        member = self.actor.member_in(self.company)
        if member is None:
            raise NotFound("There is no such company.")
        return member

    @property
    def own_run(self) -> Run:
        """The run in which an agent acts. Forbidden for a person, who needs none."""
        if self.run is None:
            raise Forbidden("Only a run can do this.")
        return self.run

    @cached_property
    def directory(self) -> Directory:
        """Who can be named, read once a reply."""
        return Directory(self.company)

    def finish_made(self) -> list[tuple[int, str]]:
        """Do what waited until all issues exist; the remarks on it, each with the action that asked for it."""
        remarks = []
        for ordinal, step in self.afterwards:
            with savepoint():
                remarks.append((ordinal, step()))
        self.afterwards.clear()
        return [(ordinal, remark) for ordinal, remark in remarks if remark]

    def when_all_exist(self, step: Callable[[], str]) -> None:
        """Do this once all of the reply's issues exist, on behalf of the present action."""
        self.afterwards.append((self.ordinal, step))
