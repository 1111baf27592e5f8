"""Keeping what an agent's instructions were."""

from __future__ import annotations

from django.db.models import Max
from django.utils import timezone

from agents.models import Agent, InstructionsVersion
from issues.actors import Actor, Person, Worker


def keep_instructions(actor: Actor, agent: Agent, *, before: str = "") -> None:
    """Keep the instructions of a held agent as a new version by this actor. `before` is what they were: kept as the
    first version where none is yet."""
    last = agent.instructions_versions.aggregate(last=Max("number"))["last"] or 0
    if not last and before:
        last = 1
        InstructionsVersion.objects.create(agent=agent, number=1, text=before, written_at=agent.created_at)
    InstructionsVersion.objects.create(
        agent=agent,
        number=last + 1,
        text=agent.instructions,
        member=actor.member_in(agent.company) if isinstance(actor, Person) else None,
        by_agent=actor.agent if isinstance(actor, Worker) else None,
        written_at=timezone.now(),
    )
