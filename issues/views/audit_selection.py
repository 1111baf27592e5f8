"""Which lines of activity a page or a table shows: read from the address, so that a selection can be shared."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date

from issues.models import Activity, ActorKind, Company, Issue
from issues.sentences import KINDS

GROUPS = {
    "issue": "Issues",
    "comment": "Comments",
    "approval": "Approvals and questions",
    "run": "Runs",
    "wakeup": "Wakeups",
    "guard": "Guards",
    "action": "Actions that were refused",
    "agent": "Agents",
    "skill": "Skills",
    "routine": "Routines",
    "file": "Files",
    "finding": "Findings",
    "notebook": "Notebooks",
    "note": "Notes that people changed",
    "observation": "Observations that people changed",
    "budget": "Budgets",
    "policy": "Policy",
    "models": "Models",
    "provider": "Providers",
    "member": "Members",
    "key": "API keys",
    "webhook": "Webhooks",
    "hook": "Hooks",
    "company": "The company",
    "project": "Projects",
    "label": "Labels",
    "view": "Saved views",
    "help": "Help",
}
"""Kinds go by what they are about: the part before the dot."""


@dataclass(frozen=True, slots=True)
class AuditSelection:
    """The filters of an address. A word that means nothing selects nothing more, an issue that does not exist selects
    nothing."""

    actor: str = ""  # agent:7, member:2, system
    kind: str = ""  # a group, or one kind
    issue: str = ""  # an identifier, or its number
    since: str = ""  # dates in the reader's zone, both included
    until: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> AuditSelection:
        return cls(**{field.name: query.get(field.name, "").strip()[:60] for field in fields(cls)})

    @property
    def is_set(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    @property
    def query(self) -> str:
        """The same selection as a query string."""
        return urlencode({field.name: value for field in fields(self) if (value := getattr(self, field.name))})

    def apply(self, company: Company) -> QuerySet[Activity]:
        """The company's lines of this selection, newest first."""
        lines = Activity.objects.filter(company=company)
        who, _, pk = self.actor.partition(":")
        if who == "system":
            lines = lines.filter(actor_kind=ActorKind.SYSTEM)
        elif who in ("agent", "member") and _is_number(pk):
            lines = lines.filter(**{who: int(pk)})
        if chosen := [kind for kind in KINDS if kind == self.kind or kind.startswith(f"{self.kind}.")]:
            lines = lines.filter(kind__in=chosen)
        if self.issue:
            lines = lines.filter(issue__in=_issues(company, self.issue))
        since, until = _midnight(self.since), _midnight(self.until)
        if since is not None:
            lines = lines.filter(created_at__gte=since)
        if until is not None:
            lines = lines.filter(created_at__lt=until + datetime.timedelta(days=1))
        return lines.order_by("-pk")


def _issues(company: Company, identifier: str) -> QuerySet[Issue, Any]:
    """The issue of that identifier or number, as a subquery; none for what is neither."""
    number = identifier.upper().removeprefix(f"{company.key}-").removeprefix("#")
    found = company.issues.filter(number=int(number)) if _is_number(number) else company.issues.none()
    return found.values("pk")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _midnight(date: str) -> datetime.datetime | None:
    """When the date begins where the reader is; None for what is no date."""
    try:
        parsed = parse_date(date)
    except ValueError:
        return None
    if parsed is None or not 1970 <= parsed.year < 9000:
        return None
    return timezone.make_aware(datetime.datetime.combine(parsed, datetime.time.min))
