"""The slots of a worker process: runs are claimed one after the other and seen through at the same time, each in a
thread of its own, which mostly waits for a model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING

import structlog
from django.conf import settings

from engine.turns import database_turn
from trimus.outages import why_out

if TYPE_CHECKING:
    from agents.models import Run

log = structlog.get_logger(__name__)

IN_A_ROW = 10
"""Claims between two looks at who comes first, at most. Such a look takes half as long as a claim."""


class Slots:
    """So many runs, and what else waits for models: what is summed up after them, dry re-runs. `executor` gives each
    its thread."""

    def __init__(self, count: int, executor: Executor) -> None:
        self._free = count
        self._counting = threading.Lock()
        self._executor = executor
        self._rung = threading.Event()
        self._claiming = threading.Lock()
        self.is_closed = False
        """Whether it takes no more. Without a lock: signals set it, in the middle of whatever."""

    def look(self) -> None:
        """Start what there is to start, as far as slots are free. Returns when it has started.

        One thread at a time claims: at once they would all try for the same pair, and all but one would have worked in
        vain. Who comes meanwhile leaves word, and whoever claims looks once more.
        """
        self._rung.set()
        while self._rung.is_set() and not self.is_closed and self._claiming.acquire(blocking=False):
            try:
                self._rung.clear()
                self._start_all()
            finally:
                self._claiming.release()

    def lend(self, work: Callable[..., object], *arguments: object) -> bool:
        """Do something else in a slot, if one is free; whether one was."""
        if self.is_closed or not self._take(1):
            return False
        self._begin(work, *arguments)
        return True

    def close(self) -> None:
        """Take no more; what has begun goes on."""
        self.is_closed = True

    def wait(self) -> None:
        """Take no more, and wait until all have ended; also the run that is being claimed, for it shall have its
        thread."""
        self.close()
        with self._claiming:
            self._executor.shutdown(wait=False)
        self._executor.shutdown(wait=True)

    def _start_all(self) -> None:
        from engine.doorbell import ring

        has_started = False
        while taken := self._take(IN_A_ROW):
            if not self._start_some(taken):
                return
            has_started = True
        if has_started:
            ring()  # others may have a free one; who has started nothing tells nobody, or it would go round for ever

    def _start_some(self, taken: int) -> int:
        """Start runs in the slots taken, and give back those that are left over; how many were started."""
        from engine.claim import claim_some

        started = 0
        try:
            with database_turn(begins=True):
                runs = claim_some(taken)
                while not self.is_closed and (run := next(runs, None)):
                    started += 1  # its slot is the thread's to give back, also should the thread come late
                    self._begin(_see_through, run)
        finally:
            self._give(taken - started)
        return started

    def _begin(self, work: Callable[..., object], *arguments: object) -> None:
        self._executor.submit(self._do, work, *arguments)

    def _do(self, work: Callable[..., object], *arguments: object) -> None:
        try:
            try:
                work(*arguments)
            finally:
                self._give(1)
            self.look()  # its end has freed a slot, an agent and an issue
        except Exception as error:  # nobody asks how it ended: leases expire, and the sweep comes by
            if why := why_out(error):
                log.warning("slot.broken_off", why=why, error=str(error))
            else:
                log.exception("slot.failed")

    def _take(self, most: int) -> int:
        """Take free slots, one in `most` of them at a time but one at least; how many. With few left it matters more
        whose run comes next than that many start at once."""
        with self._counting:
            taken = min(self._free, max(1, min(most, self._free // most)))
            self._free -= taken
        return taken

    def _give(self, count: int) -> None:
        with self._counting:
            self._free += count


def _see_through(run: Run) -> None:
    from engine.checkpoints import checkpoint_after
    from engine.heartbeat import heartbeat

    heartbeat(run)
    checkpoint_after(run)


# A process with no slots takes no runs; it still ticks, and goes on with those of others.
_threads = ThreadPoolExecutor(max(1, settings.WORKER_SLOTS), thread_name_prefix="slot")
slots = Slots(settings.WORKER_SLOTS, _threads)
