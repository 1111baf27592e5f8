"""What stands around an issue: its children, what it waits for and what waits for it; who judges and follows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db.models import CharField, Exists, OuterRef, Q, Value

from issues.models import Blocker, Issue, Reviewer, Verdict, Watch
from issues.names import Names, Somebody


@dataclass(frozen=True, slots=True)
class Family:
    """The issues that lead to this one or from it."""

    children: list[Issue] = field(default_factory=list)
    waits_for: list[Issue] = field(default_factory=list)
    blocks: list[Issue] = field(default_factory=list)

    @property
    def closed_children(self) -> int:
        return sum(child.is_closed for child in self.children)


@dataclass(frozen=True, slots=True)
class Judge:
    """A reviewer with the word of this round."""

    who: Somebody | None
    verdict: Verdict
    note: str


@dataclass(frozen=True, slots=True)
class People:
    reviewers: list[Judge] = field(default_factory=list)
    watchers: list[Somebody] = field(default_factory=list)


def read_family(issue: Issue) -> Family:
    """One query: the same issue may be a child and a blocker."""
    links = Blocker.objects.filter(issue=issue, blocker=OuterRef("pk"))
    back_links = Blocker.objects.filter(blocker=issue, issue=OuterRef("pk"))
    near = (
        Q(parent=issue)
        | Q(pk__in=Blocker.objects.filter(issue=issue).values("blocker"))
        | Q(pk__in=Blocker.objects.filter(blocker=issue).values("issue"))
    )
    found: list[Any] = list(
        Issue.objects.filter(near)
        .annotate(is_waited_for=Exists(links), is_waiting=Exists(back_links))
        .defer("description")
        .in_work_order()
    )
    return Family(
        children=[one for one in found if one.parent_id == issue.pk],
        waits_for=[one for one in found if one.is_waited_for],
        blocks=[one for one in found if one.is_waiting],
    )


def read_people(issue: Issue, names: Names) -> People:
    """One query."""
    text = CharField()
    none = Value("", text)
    reviewers = Reviewer.objects.filter(issue=issue).values_list(
        Value("reviewer", text), "pk", "agent_id", "member_id", "verdict", "note"
    )
    watches = Watch.objects.filter(issue=issue).values_list(
        Value("watch", text), "pk", Value(0), "member_id", none, none
    )
    people = People()
    for kind, _, agent, member, verdict, note in sorted(reviewers.union(watches, all=True), key=lambda row: row[:2]):
        who = names.somebody(agent=agent or None, member=member)
        if kind == "reviewer":
            people.reviewers.append(Judge(who, Verdict(verdict), note))
        elif who is not None and who.is_present:
            people.watchers.append(who)
    return people
