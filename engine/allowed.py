"""Which verbs an agent is shown: what its policy denies it does not see, what the board decides it is told."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.text.context import Actions, VerbCard
from engine.verbs.base import Verb
from engine.verbs.registry import VERBS
from issues.actors import Worker
from issues.models import Issue
from issues.policies import AgentStanding, Grant, Relation, agent_standing, authorise


@dataclass(frozen=True, slots=True)
class Allowed:
    """The verbs shown; those that go to the board whatever the issue, and those that do so here."""

    actions: Actions
    always_ask: tuple[str, ...]
    ask_here: tuple[str, ...]


def allowed_verbs(actor: Worker, issue: Issue) -> Allowed:
    """Judge every verb against the agent's standing to the issue at hand. Rights on other issues are judged when a
    verb names one."""
    here = agent_standing(actor, issue)
    at_home = replace(here, relation=Relation.OWN)
    shown = [verb for verb in VERBS if _grant(verb, here) is not Grant.DENY]
    always = [verb.name for verb in shown if _grant(verb, at_home) is Grant.APPROVAL]
    ask_here = [verb.name for verb in shown if _grant(verb, here) is Grant.APPROVAL and verb.name not in always]
    return Allowed(Actions(tuple(_card(verb) for verb in shown)), tuple(always), tuple(ask_here))


def _grant(verb: Verb, standing: AgentStanding) -> Grant:
    return authorise(verb.right, standing).grant


def _card(verb: Verb) -> VerbCard:
    return VerbCard(
        verb.name, verb.usage, verb.summary, verb.example, details=verb.details, core=verb.core, body=verb.body
    )
