"""What one act of a person left behind: its lines of activity, and the wakeups that it was the first to ask for.

Services write lines and wake agents wherever they do; whoever wants to take an act back listens while it is done:

    with traced() as trace:
        set_status(...)
    undo(actor=..., trace=trace.taken())
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Trace:
    """Ids of lines of activity and of wakeups, in the order in which they came to be."""

    lines: tuple[int, ...] = ()
    wakeups: tuple[int, ...] = ()


@dataclass(slots=True)
class Tracing:
    """A trace that is still being made."""

    lines: list[int] = field(default_factory=list)
    wakeups: list[int] = field(default_factory=list)
    woken: set[int] = field(default_factory=set)  # the agents of these wakeups

    def taken(self) -> Trace:
        return Trace(tuple(self.lines), tuple(self.wakeups))


_tracing: ContextVar[Tracing | None] = ContextVar("trimus_tracing", default=None)


@contextmanager
def traced() -> Iterator[Tracing]:
    """Listen to what is done inside."""
    mine = Tracing()
    token = _tracing.set(mine)
    try:
        yield mine
    finally:
        _tracing.reset(token)


def trace_line(pk: int) -> None:
    mine = _tracing.get()
    if mine is not None:
        mine.lines.append(pk)


def trace_wakeup(pk: int, agent_id: int) -> None:
    mine = _tracing.get()
    if mine is not None:
        mine.wakeups.append(pk)
        mine.woken.add(agent_id)


@contextmanager
def forgotten_when_undone() -> Iterator[None]:
    """Rows that the database takes back leave no trace: their ids are given to others."""
    mine = _tracing.get()
    if mine is None:
        yield
        return
    lines, wakeups = len(mine.lines), len(mine.wakeups)
    try:
        yield
    except BaseException:
        del mine.lines[lines:]
        del mine.wakeups[wakeups:]
        raise
