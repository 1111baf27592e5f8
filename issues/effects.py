"""The unit of work of a service: its transaction, and what is judged and posted at its end: wakeups, webhooks.

An issue that entered `todo` or `in_progress`, or got its assignee there, wakes its agent once, if it still is there
when the outermost service ends. So services only mark the issue; the end of the unit decides.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from django.db import DatabaseError, connection, transaction

from issues import listeners
from issues.actors import Actor, Worker
from issues.models import Activity, Approval, Comment, Issue, Status
from issues.outbox import post
from issues.sources import WakeupSource
from issues.traces import forgotten_when_undone, trace_wakeup

P = ParamSpec("P")
R = TypeVar("R")

DEADLOCK_TRIES = 3
_DEADLOCK_STATES = ("40P01", "40001")  # PostgreSQL: deadlock_detected, serialization_failure


@dataclass(frozen=True, slots=True)
class Wake:
    """A cause to wake an agent. `actor` is who caused it, which decides depth and chain; `subject` tells apart causes
    of one source on one issue (a comment's id, say)."""

    agent_id: int
    issue: Issue
    source: WakeupSource
    actor: Actor
    reason: str
    subject: str = ""
    note: str = ""
    comment: Comment | None = None
    subject_issue: Issue | None = None
    approval: Approval | None = None


@dataclass(frozen=True, slots=True)
class _Entered:
    actor: Actor
    source: WakeupSource
    reason: str
    subject: str
    subject_issue: Issue | None


@dataclass(slots=True)
class _Unit:
    entered: dict[int, _Entered] = field(default_factory=dict)
    held: dict[int, Issue] = field(default_factory=dict)
    calls: Counter[Callable[[], object]] = field(default_factory=Counter)
    lines: list[Activity] = field(default_factory=list)


_unit: ContextVar[_Unit | None] = ContextVar("trimus_unit", default=None)
_quiet: ContextVar[bool] = ContextVar("trimus_quiet", default=False)
_untold: ContextVar[bool] = ContextVar("trimus_untold", default=False)


@contextmanager
def unit() -> Iterator[None]:
    """One transaction. Inside another unit it is part of that one, and its wakeups wait for that one's end."""
    if _unit.get() is not None:
        yield
        return
    with forgotten_when_undone(), transaction.atomic():
        mine = _Unit()
        token = _unit.set(mine)
        try:
            yield
            _wake_entered(mine)
            post(mine.lines)
        finally:
            _unit.reset(token)


@contextmanager
def savepoint() -> Iterator[None]:
    """A part of a unit that can fail by itself: its rows and its marks are undone, the rest of the unit stands."""
    mine = _current()
    before, calls, lines = dict(mine.entered), mine.calls.copy(), len(mine.lines)
    try:
        with forgotten_when_undone(), transaction.atomic():
            yield
    except BaseException:
        mine.entered, mine.calls = before, calls
        del mine.lines[lines:]
        mine.held.clear()  # what was changed on them is undone, and locks taken inside are gone
        raise


def service(function: Callable[P, R]) -> Callable[P, R]:
    """Make a use case one unit. The outermost one is tried again when the database ended it to resolve a deadlock:
    it has changed nothing by then."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if _unit.get() is not None or connection.in_atomic_block:
            with unit():
                return function(*args, **kwargs)
        for attempt in range(1, DEADLOCK_TRIES + 1):
            try:
                with unit():
                    return function(*args, **kwargs)
            except DatabaseError as error:
                state = getattr(error.__cause__, "sqlstate", None)
                if state not in _DEADLOCK_STATES or attempt == DEADLOCK_TRIES:
                    raise
        raise AssertionError("unreachable")

    return run


@contextmanager
def quietly(*, telling: bool = True) -> Iterator[None]:
    """Wake nobody by what is done inside: for imports and for the demo company, whose work begins when a person says
    so. Without `telling` nothing comes into anybody's inbox, either: it happened elsewhere, long ago."""
    token, untold = _quiet.set(True), _untold.set(_untold.get() or not telling)
    try:
        yield
    finally:
        _quiet.reset(token)
        _untold.reset(untold)


def is_telling() -> bool:
    """Whether people are told of what is done now."""
    return not _untold.get()


def wake(cause: Wake) -> None:
    """Tell the agents' side now, inside the transaction."""
    if _quiet.get():
        return
    for listener in listeners.wake_listeners:
        begun = listener(cause)
        if begun is not None:
            trace_wakeup(begun, cause.agent_id)


def mark_entered(
    issue: Issue,
    actor: Actor,
    *,
    source: WakeupSource = WakeupSource.ASSIGNED,
    reason: str = "",
    subject: str = "",
    subject_issue: Issue | None = None,
) -> None:
    """Note that the issue entered todo or in_progress, or got its assignee there. `blocker_resolved` outranks
    `assigned`."""
    if _quiet.get():
        return
    marks = _current().entered
    if issue.pk in marks and marks[issue.pk].source is WakeupSource.BLOCKER_RESOLVED:
        return
    if subject_issue is not None:
        subject = str(subject_issue.pk)
    marks[issue.pk] = _Entered(actor, source, reason, subject, subject_issue)


def tell_outside(line: Activity) -> None:
    """Let the company's webhooks be told of the line: at the end of the unit, in its transaction."""
    if not is_telling():
        return
    mine = _unit.get()
    if mine is None:
        post([line])
    else:
        mine.lines.append(line)


def after_commit(call: Callable[[], object], *, at_most: int) -> None:
    """Call it once the unit is safe; however often that is asked for, no more than so many times. What it raises
    concerns nobody."""
    mine = _current()
    mine.calls[call] += 1
    if mine.calls[call] <= at_most:
        transaction.on_commit(call, robust=True)


def held_issues() -> dict[int, Issue]:
    """The issues that the present unit holds, by id. Nobody else can change them, so they are not read again; whoever
    changes one otherwise than on its object here takes it out."""
    mine = _unit.get()
    return mine.held if mine is not None else {}


def _current() -> _Unit:
    mine = _unit.get()
    if mine is None:
        raise RuntimeError("outside of a unit: effects belong to a service's transaction")
    return mine


def _wake_entered(mine: _Unit) -> None:
    if not mine.entered:
        return
    issues = Issue.objects.select_related("company").in_bulk(list(mine.entered))
    for issue_id, mark in mine.entered.items():
        issue = issues.get(issue_id)
        if issue is None or not issue.is_workable:
            continue
        if issue.assignee_agent_id is not None:
            _wake_assignee(issue, mark)
        elif issue.assignee_member_id is None and issue.status == Status.TODO:
            _wake_triage(issue, mark)


def _wake_assignee(issue: Issue, mark: _Entered) -> None:
    agent_id = issue.assignee_agent_id
    assert agent_id is not None  # noqa: S101 - the caller looked
    if _is_at_work_on(mark.actor, issue, agent_id):
        return
    was_deleted = mark.subject_issue is not None and mark.subject_issue.pk is None
    wake(
        Wake(
            agent_id=agent_id,
            issue=issue,
            source=mark.source,
            actor=mark.actor,
            reason=mark.reason,
            subject=mark.subject,
            subject_issue=None if was_deleted else mark.subject_issue,
        )
    )


def _wake_triage(issue: Issue, mark: _Entered) -> None:
    triage_id = issue.company.agents.active().routing().order_by("pk").values_list("pk", flat=True).first()
    if triage_id is None or _is_at_work_on(mark.actor, issue, triage_id):
        return
    wake(
        Wake(
            agent_id=triage_id,
            issue=issue,
            source=WakeupSource.CREATED,
            actor=mark.actor,
            reason="The issue has no assignee.",
        )
    )


def _is_at_work_on(actor: Actor, issue: Issue, agent_id: int) -> bool:
    """Whether the actor is that agent, in a run on that very issue: it needs no waking."""
    return (
        isinstance(actor, Worker)
        and actor.agent.pk == agent_id
        and actor.home is not None
        and actor.home.pk == issue.pk
    )
