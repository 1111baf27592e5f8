"""Which issues a board or list shows: read from the address, so that a selection can be shared and kept."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, fields
from typing import cast
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.db.models.lookups import IsNull
from django.http import QueryDict
from django.utils import timezone

from agents.models import Run
from agents.models.run import LIVE
from issues.models import (
    Approval,
    ApprovalKind,
    ApprovalStatus,
    Blocker,
    Issue,
    Member,
    Priority,
    Reviewer,
    Role,
    Status,
    Verdict,
)
from issues.models.issue import CLOSED, IssueQuerySet
from issues.numbers import as_number
from issues.pages import Visit
from issues.search import matching

CLOSED_SHOWN = datetime.timedelta(days=14)
"""The board's closed columns hold what was closed lately; the list holds all."""


PERIODS = {"1": "Today and yesterday", "7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days"}
"""Days back, as an address has them."""
DUE = {"overdue": "Overdue", "week": "Within 7 days", "any": "Has a due date", "none": "No due date"}
ONLY = {
    "for-me": "Waiting for me", "running": "Running now", "blocked": "Blocked", "waiting": "Waiting for an answer"
}  # fmt: skip
ARRANGING = ("group", "sort")
"""Parts of an address that arrange what is selected, and leave nothing out."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters of an address. A word that means nothing selects nothing more."""

    text: str = ""
    status: str = ""  # todo, open, closed
    priority: str = ""
    assignee: str = ""  # agent:7, member:2, me, agents, people, none
    label: str = ""
    project: str = ""  # an id, none
    parent: str = ""  # ACME-7, none
    due: str = ""
    opened: str = ""
    changed: str = ""
    only: str = ""
    group: str = ""
    sort: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> Selection:
        return cls(**{name: query.get(name, "").strip()[:200] for name in cls.names()})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))

    @property
    def filters(self) -> dict[str, str]:
        """What is left out, by name."""
        return {name: value for name in self.names() if name not in ARRANGING and (value := getattr(self, name))}

    @property
    def is_set(self) -> bool:
        return bool(self.filters)

    @property
    def query(self) -> str:
        """The same selection as a query string."""
        return urlencode({name: value for name in self.names() if (value := getattr(self, name))})

    def apply(self, visit: Visit) -> IssueQuerySet:
        """The company's issues of this selection, in no order."""
        issues = Issue.objects.filter(company=visit.company)
        if self.text:
            issues = cast(IssueQuerySet, matching(issues, visit.company, self.text))
        if self.status in Status.values:
            issues = issues.filter(status=self.status)
        elif self.status in ("open", "closed"):
            issues = issues.filter(closed_at__isnull=self.status == "open")
        if self.priority.upper() in Priority.names:
            issues = issues.filter(priority=Priority.from_slug(self.priority))
        if self.assignee:
            issues = issues.filter(self._assignee_condition(visit.member))
        if (label := as_number(self.label)) is not None:
            issues = issues.filter(labels=label)
        if (project := as_number(self.project)) is not None:
            issues = issues.filter(project=project)
        elif self.project == "none":
            issues = issues.filter(project=None)
        return self._only(issues.filter(self._parent_condition(visit) & self._date_condition()), visit.member)

    def _parent_condition(self, visit: Visit) -> Q:
        if self.parent == "none":
            return Q(parent=None)
        number = re.fullmatch(rf"(?:{visit.company.key}-|#)?([0-9]{{1,9}})", self.parent, re.IGNORECASE)
        return Q(parent__number=int(number[1])) if number is not None else Q()

    def _date_condition(self) -> Q:
        today = timezone.localdate()
        due = {
            "overdue": Q(due_date__lt=today, closed_at=None),
            "week": Q(due_date__range=(today, today + datetime.timedelta(days=7))),
            "any": Q(due_date__isnull=False),
            "none": Q(due_date=None),
        }.get(self.due, Q())
        for field, days in (("created_at", self.opened), ("updated_at", self.changed)):
            if days in PERIODS:
                due &= Q((f"{field}__gte", timezone.now() - datetime.timedelta(days=int(days))))
        return due

    def _assignee_condition(self, me: Member) -> Q:
        kind, _, word = self.assignee.partition(":")
        if kind == "me":
            return Q(assignee_member=me)
        if kind in ("agents", "people"):
            return Q(assignee_agent__isnull=False) if kind == "agents" else Q(assignee_member__isnull=False)
        if kind == "none":
            return Q(assignee_agent=None, assignee_member=None)
        if kind in ("agent", "member") and (pk := as_number(word)) is not None:
            return Q(**{f"assignee_{kind}": pk})
        return Q()

    def _only(self, issues: IssueQuerySet, me: Member) -> IssueQuerySet:
        if self.only == "running":
            return issues.filter(_is_running())
        if self.only == "blocked":
            return issues.filter(Q(status=Status.BLOCKED) | Q(_has_open_blocker()))
        if self.only == "waiting":
            pending = Approval.objects.filter(issue=OuterRef("pk"), status=ApprovalStatus.PENDING)
            return issues.filter(Exists(pending))
        if self.only == "for-me":
            return issues.filter(_waits_for(me))
        return issues


def recently_closed_or_open() -> Q:
    return Q(closed_at=None) | Q(closed_at__gte=timezone.now() - CLOSED_SHOWN)


def with_card_facts(issues: IssueQuerySet) -> IssueQuerySet:
    """Add what a card or row shows beside the issue's own fields, as part of the same query."""
    return issues.annotate(
        is_running=_is_running(),
        has_open_blocker=IsNull(_an_open_blocker(), False),
        children_all=_count_children(),
        children_closed=_count_children(status__in=CLOSED),
    ).defer("description")


def _waits_for(me: Member) -> Q:
    """A request that the member may decide, a question that is theirs to answer, a review that is theirs to make."""
    pending = Approval.objects.filter(issue=OuterRef("pk"), status=ApprovalStatus.PENDING)
    questions = pending.filter(kind=ApprovalKind.QUESTION)
    reviewers = Reviewer.objects.filter(issue=OuterRef("pk"))
    is_theirs = Q(Exists(questions), responsible=me)
    is_theirs |= Q(Exists(reviewers.filter(member=me, verdict=Verdict.OUTSTANDING)), status=Status.IN_REVIEW)
    is_theirs |= Q(~Exists(reviewers), status=Status.IN_REVIEW, responsible=me)
    if me.role == Role.VIEWER:
        return is_theirs
    return is_theirs | Q(Exists(pending.exclude(kind=ApprovalKind.QUESTION)))


def _is_running() -> Exists:
    return Exists(Run.objects.filter(issue=OuterRef("pk"), state__in=LIVE))


def _has_open_blocker() -> Exists:
    return Exists(Blocker.objects.open().filter(issue=OuterRef("pk")))


def _an_open_blocker() -> Subquery:
    """One that can only be looked up issue by issue: PostgreSQL may carry out an EXISTS among the columns by reading
    all links of all companies first."""
    return Subquery(Blocker.objects.open().filter(issue=OuterRef("pk")).values("pk")[:1])


def _count_children(**condition: object) -> Coalesce:
    children = Issue.objects.filter(parent=OuterRef("pk"), **condition).order_by().values("parent")
    return Coalesce(Subquery(children.annotate(count=Count("pk")).values("count")), 0)
