"""The heartbeat, from a claimed run to its effect: one straight line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import structlog

from agents.models import Run
from engine import leases
from engine.apply import apply_reply
from engine.completion import Unanswered, complete
from engine.context import gather
from engine.fence import Fenced
from engine.meters import meter_for
from engine.prompt import build_heartbeat_prompt
from engine.record import fail, fail_unanswered, keep_prompt, keep_reply
from engine.routing import choose_endpoint
from engine.slots import database_turn

log = structlog.get_logger(__name__)


def heartbeat(run: Run) -> None:
    """See a claimed run through. Whatever goes wrong ends this run, with the reason, and nothing else."""
    with leases.holder.hold(run) as lease, _failures_recorded(run):
        with database_turn():
            context = gather(run)
            prompt = build_heartbeat_prompt(context, meter_for(choose_endpoint(run.agent).model))
            keep_prompt(run, prompt, context)
        answer = complete(run, prompt, lease)
        with database_turn():
            keep_reply(run, answer)
            apply_reply(run)


@contextmanager
def _failures_recorded(run: Run) -> Iterator[None]:
    try:
        yield
    except Fenced as fenced:
        log.info("run.fenced", run=run.pk, why=str(fenced))
    except Unanswered as failure:
        _unless_fenced(run, partial(fail_unanswered, run, failure))
    except Exception as error:
        log.exception("run.failed", run=run.pk)
        _unless_fenced(run, partial(fail, run, "error", f"{type(error).__name__}: {error}"))


def _unless_fenced(run: Run, write: Callable[[], None]) -> None:
    """Record a failure, unless the run was cancelled or lost before it failed."""
    try:
        with database_turn():
            write()
    except Fenced as fenced:
        log.info("run.fenced", run=run.pk, why=str(fenced))
