"""Which verbs an agent is shown: what its policy denies it does not see, what the board decides it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.text.context import Actions, VerbCard
from engine.verbs.base import Verb
from engine.verbs.registry import VERBS
from issues.actors import Worker
from issues.models import Issue
from issues.policies import AgentStanding, Grant, Relation, Right, agent_standing, authorise

CLOSING = "status done"


@dataclass(frozen=True, slots=True)
class Allowed:
    """The verbs shown; what goes to the board whatever the issue, and what does so here, in words without slash."""

    actions: Actions
    always_ask: tuple[str, ...]
    ask_here: tuple[str, ...]


def allowed_verbs(actor: Worker, issue: Issue) -> Allowed:
    """Judge every verb against the agent's standing to the issue at hand. Rights on other issues are judged when a
    verb names one."""
    here = agent_standing(actor, issue)
    at_home = replace(here, relation=Relation.OWN)
    shown = [verb for verb in VERBS if authorise(verb.right, here).grant is not Grant.DENY]
    always = _asking(shown, at_home)
    ask_here = [words for words in _asking(shown, here) if words not in always]
    return Allowed(Actions(tuple(card_of(verb) for verb in shown)), tuple(always), tuple(ask_here))


def _asking(verbs: Sequence[Verb], standing: AgentStanding) -> list[str]:
    """What of the verbs goes to the board; closing by itself where other statuses do not."""
    asking = [verb.name for verb in verbs if authorise(verb.right, standing).grant is Grant.APPROVAL]
    moves = any(verb.right == Right.STATUS for verb in verbs) and Right.STATUS not in asking
    if moves and authorise(Right.CLOSE, standing).grant is Grant.APPROVAL:
        asking.insert(0, CLOSING)
    return asking


def card_of(verb: Verb) -> VerbCard:
    """What an agent is told of the verb."""
    return VerbCard(
        verb.name, verb.usage, verb.summary, verb.example, details=verb.details, core=verb.core, body=verb.body
    )
