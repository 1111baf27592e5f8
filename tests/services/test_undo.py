"""Taking back what one has just done, with the wakeups and runs that came of it."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest
import time_machine
from django.utils import timezone

from agents.models import Agent, RunState, Wakeup, WakeupState
from issues.actors import Person
from issues.models import Activity, ApprovalStatus, Company, Issue, Priority, Status
from issues.refusals import Conflict, Forbidden
from issues.services.blockers import add_blockers
from issues.services.board import move_issue
from issues.services.issues import assign_issue, set_priority, set_status
from issues.services.projects import add_labels
from issues.services.undo import undo
from issues.traces import Trace, traced
from tests import build

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", adapter="external")


def trace_of(act: Callable[[], object]) -> Trace:
    with traced() as trace:
        act()
    return trace.taken()


def test_a_move_goes_back_to_its_column_and_place(company: Company, owner: Person) -> None:
    issue, other = (build.issue(company, status=Status.BACKLOG) for _ in range(2))
    trace = trace_of(lambda: move_issue(actor=owner, issue=issue, status=Status.IN_REVIEW))
    undo(actor=owner, company=company, trace=trace)
    order = Issue.objects.filter(status=Status.BACKLOG).in_board_order()
    assert list(order) == [issue, other]


def test_the_wakeup_that_an_assignment_caused_is_withdrawn(company: Company, owner: Person, ada: Agent) -> None:
    issue = build.issue(company)
    trace = trace_of(lambda: assign_issue(actor=owner, issue=issue, assignee=ada))
    [wakeup] = build.pending(ada, issue)
    undo(actor=owner, company=company, trace=trace)
    issue.refresh_from_db()
    wakeup.refresh_from_db()
    assert issue.assignee_agent is None
    assert (wakeup.state, wakeup.run) == (WakeupState.STALE, None)
    assert "undid" in wakeup.ended_because


def test_a_run_that_the_act_began_is_cancelled(company: Company, owner: Person, ada: Agent) -> None:
    issue = build.issue(company)
    trace = trace_of(lambda: assign_issue(actor=owner, issue=issue, assignee=ada))
    run = build.at_work(ada, issue).run
    assert run is not None
    undo(actor=owner, company=company, trace=trace)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_a_run_that_others_asked_for_too_goes_on(company: Company, owner: Person, ada: Agent) -> None:
    issue = build.issue(company)
    build.comment(issue, "@ada have a look")
    trace = trace_of(lambda: assign_issue(actor=owner, issue=issue, assignee=ada))
    run = build.at_work(ada, issue).run
    assert run is not None
    undo(actor=owner, company=company, trace=trace)
    run.refresh_from_db()
    assert run.is_live


def test_a_wakeup_that_somebody_joined_meanwhile_stands(company: Company, owner: Person, ada: Agent) -> None:
    issue = build.issue(company)
    trace = trace_of(lambda: assign_issue(actor=owner, issue=issue, assignee=ada))
    Wakeup.objects.update(joined=1)
    undo(actor=owner, company=company, trace=trace)
    assert len(build.pending(ada, issue)) == 1


def test_undoing_wakes_nobody(company: Company, owner: Person, ada: Agent) -> None:
    issue = build.issue(company, assignee=ada)
    Wakeup.objects.update(state=WakeupState.CONSUMED)
    trace = trace_of(lambda: set_status(actor=owner, issue=issue, status=Status.BACKLOG))
    undo(actor=owner, company=company, trace=trace)
    issue.refresh_from_db()
    assert issue.status == Status.TODO
    assert build.pending(ada) == []


def test_undoing_a_close_blocks_again_what_waited_for_it_and_asks_again(
    company: Company, owner: Person, ada: Agent
) -> None:
    issue, waiting = build.issue(company), build.issue(company, assignee=ada)
    add_blockers(actor=owner, issue=waiting, blockers=[issue])
    Wakeup.objects.update(state=WakeupState.CONSUMED)
    approval = build.approval(issue, actor=build.at_work(build.agent(company, "Bob"), issue))
    trace = trace_of(lambda: set_status(actor=owner, issue=issue, status=Status.DONE))
    assert len(build.pending(ada, waiting)) == 1
    undo(actor=owner, company=company, trace=trace)
    waiting.refresh_from_db()
    approval.refresh_from_db()
    assert waiting.status == Status.BLOCKED
    assert build.pending(ada, waiting) == []
    assert approval.status == ApprovalStatus.PENDING


def test_priority_and_labels_go_back(company: Company, owner: Person) -> None:
    issue, bug = build.issue(company), build.label(company)

    def act() -> None:
        set_priority(actor=owner, issue=issue, priority=Priority.URGENT)
        add_labels(actor=owner, issue=issue, labels=[bug])

    undo(actor=owner, company=company, trace=trace_of(act))
    issue.refresh_from_db()
    assert issue.priority == Priority.NONE
    assert not issue.labels.exists()


def test_what_somebody_changed_since_is_left_alone(company: Company, owner: Person) -> None:
    issue = build.issue(company)
    trace = trace_of(lambda: set_priority(actor=owner, issue=issue, priority=Priority.LOW))
    set_priority(actor=build.member(company), issue=issue, priority=Priority.HIGH)
    with pytest.raises(Conflict, match="has been changed since"):
        undo(actor=owner, company=company, trace=trace)


def test_it_is_undone_once(company: Company, owner: Person) -> None:
    issue = build.issue(company)
    trace = trace_of(lambda: set_priority(actor=owner, issue=issue, priority=Priority.LOW))
    undo(actor=owner, company=company, trace=trace)
    with pytest.raises(Conflict):
        undo(actor=owner, company=company, trace=trace)


def test_another_ones_act_is_theirs_to_undo(company: Company, owner: Person) -> None:
    issue = build.issue(company)
    trace = trace_of(lambda: set_priority(actor=owner, issue=issue, priority=Priority.LOW))
    with pytest.raises(Forbidden):
        undo(actor=build.member(company), company=company, trace=trace)


def test_after_half_a_minute_it_is_too_late(company: Company, owner: Person) -> None:
    issue = build.issue(company)
    trace = trace_of(lambda: set_priority(actor=owner, issue=issue, priority=Priority.LOW))
    with (
        time_machine.travel(timezone.now() + datetime.timedelta(seconds=31)),
        pytest.raises(Conflict, match="too late"),
    ):
        undo(actor=owner, company=company, trace=trace)


def test_what_was_refused_leaves_no_trace(company: Company, owner: Person, ada: Agent) -> None:
    issue = build.issue(company, status=Status.BACKLOG)
    with traced() as trace, pytest.raises(Conflict):
        add_then_fail(owner, issue)
    assert trace.taken() == Trace()
    assert not Activity.objects.filter(kind="issue.priority").exists()


def add_then_fail(owner: Person, issue: Issue) -> None:
    from issues.effects import unit

    with unit():
        set_priority(actor=owner, issue=issue, priority=Priority.LOW)
        raise Conflict("No.")
