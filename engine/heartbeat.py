"""The heartbeat, from a claimed run to its effect: one straight line."""

from __future__ import annotations

from agents.models import Run
from engine import leases
from engine.apply import apply_reply
from engine.asking import ask
from engine.failures import failures_recorded
from engine.left_files import take_in_files
from engine.record import keep_reply
from engine.turns import database_turn


def heartbeat(run: Run) -> None:
    """See a claimed run through. Whatever goes wrong ends this run, with the reason, and nothing else."""
    with leases.holder.hold(run) as lease, failures_recorded(run):
        answer = ask(run, lease)  # gather, render, complete: once for each model that is asked
        with database_turn():
            keep_reply(run, answer)
            take_in_files(run)
            apply_reply(run)
