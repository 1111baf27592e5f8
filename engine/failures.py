"""What goes wrong in a run ends that run, with the reason, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import structlog

from agents.models import Run
from engine.completion import Unanswered
from engine.fence import Fenced
from engine.leases import HandedBack
from engine.prompt import PromptTooLarge
from engine.record import fail, fail_unanswered, give_up
from engine.turns import database_turn
from trimus.outages import why_out

log = structlog.get_logger(__name__)


@contextmanager
def failures_recorded(run: Run) -> Iterator[None]:
    """Write down what is raised inside as the run's end. A run that was cancelled, lost or taken over meanwhile has
    ended already. One whose database went away is left to its lease: it is resumed if its reply was kept, and else
    lost and tried again."""
    try:
        yield
    except Fenced as fenced:
        log.info("run.fenced", why=str(fenced))
    except PromptTooLarge as error:
        _unless_fenced(partial(fail, run, "prompt_too_large", str(error)))
    except HandedBack:
        _unless_fenced(partial(give_up, run))
    except Unanswered as failure:
        _unless_fenced(partial(fail_unanswered, run, failure))
    except Exception as error:
        if why := why_out(error):
            log.warning("run.left_to_its_lease", why=why, error=str(error))
            return
        log.exception("run.failed")
        _unless_fenced(partial(fail, run, "error", f"{type(error).__name__}: {error}"))


def _unless_fenced(write: Callable[[], None]) -> None:
    try:
        with database_turn():
            write()
    except Fenced as fenced:
        log.info("run.fenced", why=str(fenced))
