"""What a reply would do: it is applied for real, looked at, and taken back whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from agents.models import Run, RunState
from agents.models.run import LIVE
from engine.apply import apply_reply
from engine.claim import RUN_DEADLINE
from engine.meanwhile import SEEN, lines_of_people
from engine.outcomes import Outcome
from issues import blobs
from issues.effects import unit
from issues.services.locks import lock_company


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What would have become of the reply. `run` is the run that would have applied it; its row is gone."""

    run: Run
    outcomes: Sequence[Outcome]
    prose: str


class _TakeBack(Exception):
    """Ends the transaction."""


def rehearse(like: Run, reply: str) -> Rehearsed:
    """Apply the reply as if the agent of that run had given it there just now, with the same rights and depth, and take
    everything back."""
    rehearsed: Rehearsed | None = None
    try:
        with blobs.rehearsal(), transaction.atomic():
            rehearsed = _apply(like, reply)
            raise _TakeBack
    except _TakeBack:
        pass
    assert rehearsed is not None  # noqa: S101 - anything else was raised
    return rehearsed


def _apply(like: Run, reply: str) -> Rehearsed:
    with unit():
        lock_company(like.company)
        now = timezone.now()
        # Whoever is at work there steps aside until this is taken back: one issue has one live run.
        Run.objects.filter(issue=like.issue, state__in=LIVE).update(state=RunState.CANCELLED, ended_at=now)
        run = Run(
            company=like.company,
            agent=like.agent,
            issue=like.issue,
            state=RunState.RUNNING,
            adapter=like.adapter,
            provider=like.provider,
            depth=like.depth,
            chain=like.chain,
            chain_member=like.chain_member,
            started_at=now,
            deadline_at=now + RUN_DEADLINE,
            reply=reply,
            replied_at=now,
        )
        run.prompt_facts = {
            "whole_skills": like.prompt_facts.get("whole_skills", []),
            SEEN: lines_of_people(run),  # what people did since the prompt was built is how things stand
        }
        run.save(force_insert=True)
        outcomes = apply_reply(run)
        run.refresh_from_db()
        comment = run.comments.order_by("pk").first()
        return Rehearsed(run, outcomes, comment.body if comment is not None else "")
