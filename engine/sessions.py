"""Sessions of programs: what one remembers of its work on an issue, which it can go on with in the agent's next run
there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from django.db.models import Sum

from agents.adapters.base import Usage
from agents.models import Run, RunState

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")
"""It stands among the arguments of a command, and must not look like an option."""


@dataclass(frozen=True, slots=True)
class Session:
    """`name` is the program's own, empty for none; `used` what the runs in it have used that are counted already."""

    name: str = ""
    used: Usage = field(default_factory=Usage)

    def beyond(self, told: Usage) -> Usage:
        """What was used beyond that, of what was told for the whole session. A program that told less than was counted
        told it for its run alone."""
        used = self.used
        if told.input_tokens < used.input_tokens or told.output_tokens < used.output_tokens:
            return told
        return Usage(
            input_tokens=told.input_tokens - used.input_tokens,
            cached_input_tokens=max(0, told.cached_input_tokens - used.cached_input_tokens),
            output_tokens=told.output_tokens - used.output_tokens,
            reasoning_tokens=max(0, told.reasoning_tokens - used.reasoning_tokens),
        )


NO_SESSION = Session()


def session_before(run: Run) -> Session:
    """The session of the agent's last run on the issue that succeeded, with the same kind of program; none if what it
    was told to be has changed since, for a session would remember the old."""
    before = Run.objects.filter(
        agent=run.agent_id, issue=run.issue_id, adapter=run.adapter, state=RunState.SUCCEEDED, pk__lt=run.pk
    ).exclude(session="")
    last = before.only("session", "contract_hash", "instructions_hash").order_by("-pk").first()
    if last is None or (last.contract_hash, last.instructions_hash) != (run.contract_hash, run.instructions_hash):
        return NO_SESSION
    used = before.filter(session=last.session).aggregate(
        input_tokens=Sum("input_tokens"),
        cached_input_tokens=Sum("cached_tokens"),
        output_tokens=Sum("output_tokens"),
        reasoning_tokens=Sum("reasoning_tokens"),
    )
    return Session(last.session, Usage(**used))


def session_name(told: str) -> str:
    """The name that a program gave its session, if it can be given back to it; else empty."""
    return told if _NAME.fullmatch(told) else ""
