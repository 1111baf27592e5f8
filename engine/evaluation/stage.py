"""A throw-away company in which one scenario is played once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from agents.models import Agent
from agents.services.agents import hire_agent, worker_for
from agents.services.runs import check_out, release
from issues.actors import Person, Worker
from issues.models import Company, Issue
from issues.services.accounts import create_user
from issues.services.companies import found_company
from issues.services.issues import create_issue

KEY = "KEY-"
"""Stands in written replies for the company's key: `KEY-2` is its second issue."""

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a scenario has set up: whose heartbeat it is, on which issue, and what then happens that wakes it."""

    agent: Agent
    issue: Issue
    happen: Callable[[], object]


class Stage:
    """The company with its founder and three colleagues that nothing answers: Max, the head, Bob and Tess.

    `player` are the fields of the agent that is tried: provider, model and what else it is tried with.
    """

    def __init__(self, player: dict[str, Any], reply: str | None) -> None:
        number = next(_numbers)
        user = create_user(username=f"grace-{number}", name="Grace Okafor")
        self.company: Company = found_company(
            actor=Person(user), name="Okafor Kettles", key=f"EV{number}", mission="Sell kettles that last."
        )
        self.founder = Person(user, self.company.members.get())
        self._player = dict(player)
        if reply is not None:
            text = reply.replace(KEY, f"{self.company.key}-")
            self._player["script"] = yaml.safe_dump([{"reply": text}], allow_unicode=True)
        self.max = self._hire("Max", title="Head of the shop", description="Decides what is beyond one's job.")
        self.bob = self._hire("Bob", title="Data engineer", description="Imports, exports and the database.")
        self.tess = self._hire("Tess", title="Tester", description="Tests what others have made.")

    def player(self, **fields: Any) -> Agent:
        """Ada, the agent that is tried; under Max unless said."""
        return self._hire("Ada", **{"title": "Shop assistant", "manager": self.max} | self._player | fields)

    def issue(self, title: str, description: str = "", **fields: Any) -> Issue:
        """An issue, opened by the founder."""
        return create_issue(
            actor=self.founder, company=self.company, title=title, description=self.named(description), **fields
        )

    def named(self, text: str) -> str:
        """The text with this company's key in its identifiers."""
        return text.replace(KEY, f"{self.company.key}-")

    @contextmanager
    def at_work(self, agent: Agent, issue: Issue) -> Iterator[Worker]:
        """The agent in an earlier run on the issue."""
        run = check_out(actor=worker_for(agent), issue=issue)
        worker = worker_for(agent, run)
        yield worker
        release(actor=worker, issue=issue)

    def _hire(self, name: str, **fields: Any) -> Agent:
        return hire_agent(actor=self.founder, company=self.company, name=name, **fields)
