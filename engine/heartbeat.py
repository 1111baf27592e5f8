"""The heartbeat, from a claimed run to its effect: one straight line."""

from __future__ import annotations

from agents.models import Run
from engine import leases
from engine.apply import apply_reply
from engine.completion import Unanswered, complete
from engine.failures import failures_recorded
from engine.preparing import prepare, prepare_leaner
from engine.record import keep_reply
from engine.slots import database_turn


def heartbeat(run: Run) -> None:
    """See a claimed run through. Whatever goes wrong ends this run, with the reason, and nothing else."""
    with leases.holder.hold(run) as lease, failures_recorded(run):
        try:
            answer = complete(run, prepare(run), lease)
        except Unanswered as failure:
            answer = complete(run, prepare_leaner(run, failure), lease)
        with database_turn():
            keep_reply(run, answer)
            apply_reply(run)
