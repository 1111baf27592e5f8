"""Holding runs. One thread a worker process renews the leases of all its runs, and lets go of those that were
cancelled, lost or taken over meanwhile, which ends their model call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog
from django.db import connections
from django.db.models import F
from django.utils import timezone
from structlog.contextvars import bound_contextvars

from agents.adapters.base import Completion
from agents.models import Run, RunState
from engine.fence import Fenced
from trimus.outages import why_out

log = structlog.get_logger(__name__)

LOOK_SECONDS = 0.5
"""How often the holder looks whether its runs are still its own: a cancel is felt within this."""


class HandedBack(Exception):
    """The process ends before the answer came: the run is given up, and its work pending again for another."""


@dataclass(eq=False)
class Lease:
    """One held run, and what ends that which it waits for. A run that was taken over in the same process has two."""

    run: Run
    renewed_at: float = field(default_factory=time.monotonic)
    ends_at: float = field(init=False)
    lost: bool = False
    handed_back: bool = False
    _end: Callable[[], object] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """From here on the run's deadline goes by the monotonic clock, which nobody sets."""
        self.ends_at = time.monotonic() + (self.run.deadline_at - timezone.now()).total_seconds()

    def wait_for(self, call: Future[Completion]) -> Completion:
        """The call's answer. Raises what the call raises, Fenced if the run is let go of meanwhile, HandedBack if it is
        given up."""
        try:
            with self.ended_by(call.cancel):
                return call.result()
        except CancelledError:
            self.check()
            raise Fenced(f"run {self.run.pk} was ended while it waited") from None

    @contextmanager
    def ended_by(self, end: Callable[[], object]) -> Iterator[None]:
        """Call `end`, from whatever thread, if the run is let go of or given up meanwhile, or was before."""
        with self._lock:
            self._end = end
            if self.lost or self.handed_back:
                end()
        try:
            yield
        finally:
            with self._lock:
                self._end = None

    def check(self) -> None:
        """Raise HandedBack if the run was given up, Fenced if it was let go of."""
        if self.handed_back:
            raise HandedBack
        if self.lost:
            raise Fenced(f"run {self.run.pk} was ended while it waited")

    def let_go(self) -> None:
        """The run is no longer ours: end its call, which nobody waits for any more."""
        with self._lock:
            self.lost = True
            if self._end is not None:
                self._end()

    def hand_back(self) -> None:
        """Give the run up where it waits for its call, now or when it comes to that."""
        with self._lock:
            self.handed_back = True
            if self._end is not None:
                self._end()

    @property
    def seconds_left(self) -> float:
        """Until the run's deadline; below nought after it."""
        return self.ends_at - time.monotonic()

    @property
    def is_due(self) -> bool:
        """Renewed every third of its length, so that two renewals may fail, and not after the run's deadline, so that a
        hung thread is not renewed for ever."""
        return self.seconds_left > 0 and time.monotonic() - self.renewed_at >= self.run.lease_seconds / 3


class LeaseHolder:
    """The leases of this process. Its thread starts with the first and ends with the last."""

    def __init__(self) -> None:
        self._leases: set[Lease] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def hold(self, run: Run) -> Iterator[Lease]:
        """Keep the run alive meanwhile. Every line that is logged inside names it, its agent and its company, by
        whatever logger and also where the model is called."""
        with bound_contextvars(run=run.pk, agent=run.agent.handle, company=run.company.key):
            began = time.monotonic()
            with self._holding(run) as lease:
                yield lease
            log.info("run.let_go", seconds=round(time.monotonic() - began, 2))

    @contextmanager
    def _holding(self, run: Run) -> Iterator[Lease]:
        lease = Lease(run)
        with self._lock:
            self._leases.add(lease)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="leases", daemon=True)
                self._thread.start()
        try:
            yield lease
        finally:
            with self._lock:
                self._leases.discard(lease)

    def hand_back(self) -> None:
        """Give up every run that waits for its model."""
        with self._lock:
            leases = list(self._leases)
        for lease in leases:
            lease.hand_back()

    def _work(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            with self._lock:
                leases = list(self._leases)
                if not leases:
                    self._thread = None
                    break
            try:
                self._look(leases)
            except Exception as error:  # this thread must not end: without it every run of the process is lost
                if why := why_out(error):  # it will be back; until then nothing can be applied either
                    log.warning("leases.not_renewed", why=why, error=str(error))
                else:
                    log.exception("leases.look_failed")
                connections.close_all()
        connections.close_all()

    def _look(self, leases: list[Lease]) -> None:
        ours = dict(
            Run.objects.filter(pk__in=[lease.run.pk for lease in leases], state=RunState.RUNNING).values_list(
                "pk", "attempt"
            )
        )
        for lease in leases:
            if ours.get(lease.run.pk) != lease.run.attempt:
                lease.let_go()
        due = [lease for lease in leases if lease.is_due and not lease.lost]
        if due:
            renewed = Run.objects.filter(pk__in=[lease.run.pk for lease in due], state=RunState.RUNNING)
            renewed.update(lease_counter=F("lease_counter") + 1)
            for lease in due:
                lease.renewed_at = time.monotonic()


class LeaseWatch:
    """Which leases have expired, on this process's own monotonic clock: a run whose renewal counter did not move for
    the length of its lease. Wall clocks of several machines never meet here."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, int, float]] = {}
        self._lock = threading.Lock()

    def expired(self, runs: list[Run]) -> list[Run]:
        """Those of the live runs given that have expired. Runs not given are forgotten."""
        now = time.monotonic()
        with self._lock:
            before, self._seen = self._seen, {}
            expired = []
            for run in runs:
                attempt, counter, since = before.get(run.pk, (run.attempt, run.lease_counter, now))
                if (attempt, counter) != (run.attempt, run.lease_counter):
                    since = now
                self._seen[run.pk] = (run.attempt, run.lease_counter, since)
                if now - since >= run.lease_seconds:
                    expired.append(run)
            return expired


holder = LeaseHolder()
watch = LeaseWatch()
