"""From an empty company to a first run that can be looked at: how far it has come."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from agents.models import Agent, Run
from issues.models import Company, Issue


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """What there is already. The steps are taken in this order, but any can come about by another way."""

    has_agent: bool
    has_assigned_issue: bool
    has_run: bool

    @property
    def current(self) -> int:
        """The number of the first step that is still to be taken; 4 when all are."""
        return [self.has_agent, self.has_assigned_issue, self.has_run, False].index(False) + 1

    @property
    def are_done(self) -> bool:
        return self.has_run


def first_steps(company: Company) -> FirstSteps:
    """How far the company has come, in one query."""
    here = {"company": OuterRef("pk")}
    return FirstSteps(
        *Company.objects.filter(pk=company.pk).values_list(
            Exists(Agent.objects.present().filter(**here)),
            Exists(Issue.objects.filter(**here, assignee_agent__isnull=False)),
            Exists(Run.objects.filter(**here)),
        )[0]
    )
