"""What stands around an issue: its children, what it waits for and what waits for it; who judges and follows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import CharField, Exists, OuterRef, Q, Value

from issues.models import Blocker, Comment, Issue, Reaction, ReactionKind, Reviewer, Verdict, Watch
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
class Reacted:
    """One kind of reaction to a comment, with who gave it."""

    kind: ReactionKind
    who: list[Somebody]

    @property
    def names(self) -> str:
        return ", ".join(one.name for one in self.who)


@dataclass(frozen=True, slots=True)
class People:
    """Who judges the issue, who follows it, and who reacted to which of its comments (by id)."""

    reviewers: list[Judge] = field(default_factory=list)
    watchers: list[Somebody] = field(default_factory=list)
    reactions: dict[int, list[Reacted]] = field(default_factory=dict)


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


def read_people(issue: Issue, names: Names, comments: Iterable[Comment]) -> People:
    """One query, with the reactions to those of its comments."""
    text = CharField()
    none = Value("", text)
    reviewers = Reviewer.objects.filter(issue=issue).values_list(
        Value("reviewer", text), "pk", "agent_id", "member_id", "verdict", "note"
    )
    watches = Watch.objects.filter(issue=issue).values_list(
        Value("watch", text), "pk", Value(0), "member_id", none, none
    )
    reactions = Reaction.objects.filter(comment__in=[comment.pk for comment in comments]).values_list(
        Value("reaction", text), "pk", "comment_id", "member_id", "kind", none
    )
    people = People()
    for kind, _, other, member, word, note in sorted(
        reviewers.union(watches, reactions, all=True), key=lambda row: row[:2]
    ):
        if kind == "reviewer":
            people.reviewers.append(Judge(names.somebody(agent=other, member=member), Verdict(word), note))
            continue
        who = names.members.get(member)
        if who is None:
            continue
        if kind == "reaction":
            _add_reaction(people.reactions.setdefault(other, []), ReactionKind(word), who)
        elif who.is_present:
            people.watchers.append(who)
    return people


def _add_reaction(given: list[Reacted], kind: ReactionKind, who: Somebody) -> None:
    """In the order in which each kind was first given."""
    same = next((reacted for reacted in given if reacted.kind is kind), None)
    if same is None:
        given.append(Reacted(kind, [who]))
    else:
        same.who.append(who)
