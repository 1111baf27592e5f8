"""Who does it. Every service takes one of these three."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from issues.models import Company, Issue, Member, User

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


@dataclass(frozen=True, slots=True)
class Worker:
    """An agent. `run` and `home` are its live run and that run's issue; both None for a key used outside a run.

    `approved` is set while an action that the board approved is carried out: what would need an approval is then
    allowed. `begun_by` is the person whose act began the chain of runs: an agent never has more rights than they.
    """

    agent: Agent
    run: Run | None = None
    home: Issue | None = None
    approved: bool = False
    begun_by: Member | None = None

    def __str__(self) -> str:
        return self.agent.name


@dataclass(frozen=True, slots=True)
class System:
    """Trimus itself: consequences, schedules and recovery."""

    def __str__(self) -> str:
        return "Trimus"


Actor = Person | Worker | System
SYSTEM = System()
