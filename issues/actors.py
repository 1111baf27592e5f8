"""Who does it. Every service takes one of these three."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from issues.models import Company, Grant, Issue, Member, PolicyRule, User

if TYPE_CHECKING:
    from agents.models import Agent, Run


@dataclass(frozen=True, slots=True)
class Person:
    """A logged-in user. `member` is the membership already at hand, to spare its query."""

    user: User
    member: Member | None = None

    def member_in(self, company: Company) -> Member | None:
        """The user's standing membership of the company, or None."""
        if self.member is not None and self.member.company_id == company.pk:
            return self.member if self.member.removed_at is None else None
        return Member.objects.present().filter(company=company, user=self.user).first()

    def __str__(self) -> str:
        return str(self.user)


@dataclass(frozen=True)
class Worker:
    """An agent. `run` and `home` are its live run and that run's issue; both None for a key used outside a run.

    `owns_home` says whether that issue was its own when the actor was made: whoever hands an issue over may still say
    in the same breath how it stands. `approved` is set while an action that the board approved is carried out: what
    would need an approval is then allowed. `begun_by` is the person whose act began the chain of runs: an agent never
    has more rights than they.
    """

    agent: Agent
    run: Run | None = None
    home: Issue | None = None
    owns_home: bool = False
    approved: bool = False
    begun_by: Member | None = None

    @cached_property
    def grants(self) -> Mapping[str, Grant]:
        """What the company has decided otherwise than the agent's preset, read once in this actor's life."""
        return PolicyRule.objects.grants_for(self.agent)

    def __str__(self) -> str:
        return self.agent.name


@dataclass(frozen=True, slots=True)
class System:
    """Trimus itself: consequences, schedules and recovery."""

    def __str__(self) -> str:
        return "Trimus"


Actor = Person | Worker | System
SYSTEM = System()
