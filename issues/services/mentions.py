"""What an @mention does: it wakes an agent or tells a person."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from issues.actors import Actor, Person, Worker
from issues.directory import Directory
from issues.effects import Wake, wake
from issues.mentions import read_mentions
from issues.models import Comment, Company, InboxKind, Issue, Member
from issues.services.inbox import tell
from issues.services.watching import follow
from issues.sources import WakeupSource
from issues.texts import fold

if TYPE_CHECKING:
    from agents.models import Agent


@dataclass(frozen=True, slots=True)
class Mentioned:
    """Whom a text names. `unknown` are @words that name nobody, `ambiguous` those that name several: shown to the
    author, never guessed."""

    agents: tuple[Agent, ...] = ()
    members: tuple[Member, ...] = ()
    unknown: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()


def mentioned_in(company: Company, text: str) -> Mentioned:
    """Read the mentions of a text against the company's members and agents."""
    if "@" not in text:
        return Mentioned()
    directory = Directory(company)
    found = read_mentions(text, directory.known, ambiguous=directory.ambiguous)
    named = dict.fromkeys(one for name in found.found if (one := directory.get(name)) is not None)
    shared = {fold(name) for name in directory.ambiguous}
    return Mentioned(
        agents=tuple(one for one in named if not isinstance(one, Member)),
        members=tuple(one for one in named if isinstance(one, Member)),
        unknown=tuple(word for word in found.unknown if fold(word) not in shared),
        ambiguous=tuple(word for word in found.unknown if fold(word) in shared),
    )


def mentioned_anew(company: Company, text: str, already: str) -> Mentioned:
    """The same, less whom the text that it replaces named before: they are not called again."""
    mentioned = mentioned_in(company, text)
    before = mentioned_in(company, already)
    return replace(
        mentioned,
        agents=tuple(agent for agent in mentioned.agents if agent not in before.agents),
        members=tuple(member for member in mentioned.members if member not in before.members),
    )


def wake_mentioned(
    actor: Actor,
    issue: Issue,
    text: str,
    *,
    comment: Comment | None = None,
    already: str = "",
    without: Collection[str] = (),
) -> Mentioned:
    """Wake the agents and tell the people that a new text on the issue names, who follow it from then on; answer whom
    it names.

    Nobody mentions themselves. `already` is the text that this one replaces: whom it named is not called again.
    `without` are handles that the author chose not to call.
    """
    mentioned = mentioned_anew(issue.company, text, already)
    place = "a comment" if comment is not None else "the description"
    for agent in mentioned.agents:
        if agent.handle in without or _is(actor, agent):
            continue
        wake(
            Wake(
                agent_id=agent.pk,
                issue=issue,
                source=WakeupSource.MENTION,
                actor=actor,
                comment=comment,
                subject=f"comment {comment.pk}" if comment is not None else "description",
                reason=f"{actor} mentioned you in {place}.",
            )
        )
    told = [member for member in mentioned.members if member.handle not in without and not _is(actor, member)]
    tell(
        told,
        InboxKind.MENTION,
        f"{actor} mentioned you on {issue.identifier}.",
        company=issue.company,
        issue=issue,
        comment=comment,
    )
    if told:
        follow(issue, told)
    return mentioned


def _is(actor: Actor, one: Agent | Member) -> bool:
    if isinstance(one, Member):
        return isinstance(actor, Person) and actor.user.pk == one.user_id
    return isinstance(actor, Worker) and actor.agent.pk == one.pk
