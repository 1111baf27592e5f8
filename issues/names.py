"""Whom and what a page names: everybody of the company and the issues that its lines refer to, in one query."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.functions import Cast, Coalesce, NullIf

from issues.models import Company, Member, WorkspaceFile

HUES = 8


@dataclass(frozen=True, slots=True)
class Somebody:
    """A person or an agent as a page shows them. `state` is an agent's status or a member's role ("gone" for one
    who left)."""

    kind: str
    id: int
    name: str
    handle: str
    state: str

    @property
    def is_agent(self) -> bool:
        return self.kind == "agent"

    @property
    def is_present(self) -> bool:
        return self.state not in ("terminated", "gone")

    @property
    def initials(self) -> str:
        words: list[str] = re.findall(r"\w+", self.name) or [self.handle]
        return (words[0][0] + words[-1][0] if len(words) > 1 else words[0][:2]).upper()

    @property
    def hue(self) -> int:
        """One of the avatars' colours, the same on every page."""
        return (self.id * 5 + (3 if self.is_agent else 0)) % HUES

    @property
    def value(self) -> str:
        """How a form refers to them: `agent:7`."""
        return f"{self.kind}:{self.id}"


def somebody_of(member: Member) -> Somebody:
    """A member at hand, as pages show them."""
    return Somebody("member", member.pk, member.name, member.handle, "gone" if member.removed_at else member.role)


@dataclass(frozen=True, slots=True)
class NamedIssue:
    id: int
    identifier: str
    title: str
    status: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Ids of what else a page names, beside everybody of the company; of issues also their numbers."""

    issues: frozenset[int] = frozenset()
    numbers: frozenset[int] = frozenset()
    skills: frozenset[int] = frozenset()
    files: frozenset[int] = frozenset()

    def __or__(self, other: Wanted) -> Wanted:
        return Wanted(
            self.issues | other.issues,
            self.numbers | other.numbers,
            self.skills | other.skills,
            self.files | other.files,
        )


class Names:
    """Look-ups by id, read when the first name is asked for. What was deleted since has no name; pages say so."""

    def __init__(self, company: Company, wanted: Wanted = Wanted()) -> None:
        self._company = company
        self._wanted = wanted

    @cached_property
    def _rows(self) -> dict[str, list[tuple[int, str, str, str]]]:
        """Id, name, handle and state of everything named, by kind."""
        rows: dict[str, list[tuple[int, str, str, str]]] = defaultdict(list)
        for kind, pk, name, handle, state in _read(self._company, self._wanted):
            rows[kind].append((pk, name, handle, state))
        return rows

    @cached_property
    def agents(self) -> dict[int, Somebody]:
        return {pk: Somebody("agent", pk, name, handle, state) for pk, name, handle, state in self._rows["agent"]}

    @cached_property
    def members(self) -> dict[int, Somebody]:
        return {pk: Somebody("member", pk, name, handle, state) for pk, name, handle, state in self._rows["member"]}

    @cached_property
    def issues(self) -> dict[int, NamedIssue]:
        key, rows = self._company.key, self._rows["issue"]
        return {pk: NamedIssue(pk, f"{key}-{number}", title, status) for pk, title, number, status in rows}

    @cached_property
    def by_identifier(self) -> dict[str, NamedIssue]:
        return {issue.identifier: issue for issue in self.issues.values()}

    @cached_property
    def skills(self) -> dict[int, str]:
        return {pk: name for pk, name, *_ in self._rows["skill"]}

    @cached_property
    def files(self) -> dict[int, str]:
        return {pk: path for pk, path, *_ in self._rows["file"]}

    @cached_property
    def handles(self) -> frozenset[str]:
        return frozenset(one.handle for one in (*self.agents.values(), *self.members.values()))

    @property
    def present_agents(self) -> list[Somebody]:
        return [one for one in self.agents.values() if one.is_present]

    @property
    def present_members(self) -> list[Somebody]:
        return [one for one in self.members.values() if one.is_present]

    def somebody(self, *, agent: int | None, member: int | None) -> Somebody | None:
        """The one of the two that is set."""
        if agent is not None:
            return self.agents.get(agent)
        return self.members.get(member) if member is not None else None

    def refer(self, reference: dict[str, int] | None) -> Somebody | None:
        """Whom a line of activity refers to: `{"agent": 7}`, `{"member": 2}` or nobody."""
        if not reference:
            return None
        return self.somebody(agent=reference.get("agent"), member=reference.get("member"))


def _read(company: Company, wanted: Wanted) -> Iterable[tuple[str, int, str, str, str]]:
    text = CharField()
    nothing = Value("", text)
    shown_name = Coalesce(NullIf(F("user__name"), Value("")), F("user__username"), output_field=text)
    state = Case(When(removed_at=None, then=F("role")), default=Value("gone"), output_field=text)
    agents = company.agents.values_list(Value("agent", text), "pk", "name", "handle", "status")
    parts: list[QuerySet[Any, Any]] = [
        company.members.values_list(Value("member", text), "pk", shown_name, "handle", state)
    ]
    if wanted.issues or wanted.numbers:
        issues = company.issues.filter(Q(pk__in=wanted.issues) | Q(number__in=wanted.numbers))
        parts.append(issues.values_list(Value("issue", text), "pk", "title", Cast("number", text), "status"))
    if wanted.skills:
        skills = company.skills.filter(pk__in=wanted.skills)
        parts.append(skills.values_list(Value("skill", text), "pk", "name", nothing, nothing))
    if wanted.files:
        files = WorkspaceFile.objects.filter(issue__company=company, pk__in=wanted.files)
        parts.append(files.values_list(Value("file", text), "pk", "path", nothing, nothing))
    return agents.order_by().union(*(part.order_by() for part in parts), all=True)
