"""Questions to the board: asking, deciding once, carrying out, and what ends them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import pytest

from agents.models import Agent, WakeupSource, WakeupState
from issues import listeners
from issues.actors import Actor, Person, Worker
from issues.models import (
    Activity,
    Approval,
    ApprovalKind,
    ApprovalStatus,
    Comment,
    Company,
    InboxItem,
    InboxKind,
    Issue,
    Priority,
    Role,
    Status,
)
from issues.refusals import Conflict, Forbidden, Invalid
from issues.services.approvals import ask_question, decide_approval, propose_action, request_approval
from issues.services.companies import remove_member
from issues.services.issues import set_priority, set_status
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(company: Company, ada: Agent) -> Worker:
    """Ada in a run on her own issue."""
    return build.at_work(ada, build.issue(company, "Ada's work", assignee=ada))


@pytest.fixture
def home(worker: Worker) -> Issue:
    assert worker.home is not None
    return worker.home


def ask(kind: ApprovalKind, worker: Worker) -> Approval:
    assert worker.home is not None
    match kind:
        case ApprovalKind.REQUEST:
            return request_approval(actor=worker, issue=worker.home, title="May I?", explanation="It is needed.")
        case ApprovalKind.QUESTION:
            return ask_question(actor=worker, issue=worker.home, question="Which one?", choices=["This", "That"])
        case _:
            payload = {"verb": "priority", "issue": worker.home.pk}
            return propose_action(
                actor=worker, issue=worker.home, title="/priority high", payload=payload, explanation=""
            )


ENDS = [
    (ApprovalKind.REQUEST, ApprovalStatus.APPROVED),
    (ApprovalKind.REQUEST, ApprovalStatus.REFUSED),
    (ApprovalKind.REQUEST, ApprovalStatus.SENT_BACK),
    (ApprovalKind.ACTION, ApprovalStatus.APPROVED),
    (ApprovalKind.ACTION, ApprovalStatus.REFUSED),
    (ApprovalKind.ACTION, ApprovalStatus.SENT_BACK),
    (ApprovalKind.QUESTION, ApprovalStatus.ANSWERED),
]


class TestDeciding:
    @pytest.mark.parametrize(("kind", "status"), ENDS)
    def test_a_decision_wakes_whoever_asked_and_leaves_the_inbox(
        self, kind: ApprovalKind, status: ApprovalStatus, owner: Person, worker: Worker, no_carriers: None
    ) -> None:
        approval = ask(kind, worker)
        assert InboxItem.objects.filter(approval=approval, archived_at=None).count() == 1
        decided = decide_approval(actor=owner, approval=approval, status=status, note="Since you ask.")
        assert (decided.status, decided.decided_by, decided.note) == (status, owner.member, "Since you ask.")
        assert decided.decided_at is not None
        assert not InboxItem.objects.filter(approval=approval, archived_at=None).exists()
        [wakeup] = build.pending(worker.agent, worker.home)
        assert (wakeup.source, wakeup.approval) == (WakeupSource.APPROVAL_DECIDED, approval)
        assert wakeup.note == "Since you ask."
        assert wakeup.depth == 0

    @pytest.mark.parametrize(
        ("kind", "status"), [end for end in product(ApprovalKind, ApprovalStatus) if end not in ENDS]
    )
    def test_a_kind_ends_only_as_it_can(
        self, kind: ApprovalKind, status: ApprovalStatus, owner: Person, worker: Worker, no_carriers: None
    ) -> None:
        approval = ask(kind, worker)
        with pytest.raises(Invalid, match="cannot be"):
            decide_approval(actor=owner, approval=approval, status=status, note="So be it.")
        approval.refresh_from_db()
        assert approval.is_pending

    def test_the_second_who_decides_is_told_of_the_first(self, company: Company, owner: Person, worker: Worker) -> None:
        boss = build.member(company, "boss")
        approval = ask(ApprovalKind.REQUEST, worker)
        decide_approval(actor=boss, approval=approval, status=ApprovalStatus.REFUSED)
        with pytest.raises(Conflict, match="Boss .* refused"):
            decide_approval(actor=owner, approval=approval, status=ApprovalStatus.APPROVED)
        approval.refresh_from_db()
        assert approval.status == ApprovalStatus.REFUSED

    def test_an_answer_says_something(self, owner: Person, worker: Worker) -> None:
        with pytest.raises(Invalid, match="empty"):
            decide_approval(
                actor=owner, approval=ask(ApprovalKind.QUESTION, worker), status=ApprovalStatus.ANSWERED, note=" "
            )

    def test_nobody_approves_their_own_request(self, company: Company, owner: Person, issue: Issue) -> None:
        boss = build.member(company, "boss")
        approval = request_approval(actor=boss, issue=issue, title="May I?")
        with pytest.raises(Forbidden, match="own request"):
            decide_approval(actor=boss, approval=approval, status=ApprovalStatus.APPROVED)
        decide_approval(actor=owner, approval=approval, status=ApprovalStatus.APPROVED)

    def test_a_person_may_approve_what_an_agent_asks_in_a_run_that_they_began(
        self, company: Company, ada: Agent, issue: Issue
    ) -> None:
        boss = build.member(company, "boss")
        approval = request_approval(actor=build.at_work(ada, issue, by=boss), issue=issue, title="May I?")
        decide_approval(actor=boss, approval=approval, status=ApprovalStatus.APPROVED)

    def test_a_requester_that_is_a_person_wakes_nobody(self, company: Company, owner: Person, issue: Issue) -> None:
        approval = request_approval(actor=build.member(company), issue=issue, title="May I?")
        decide_approval(actor=owner, approval=approval, status=ApprovalStatus.APPROVED)
        assert not issue.wakeups.exists()


class TestPayload:
    def test_what_was_changed_since_it_was_asked_is_refused(self, owner: Person, worker: Worker) -> None:
        approval = ask(ApprovalKind.ACTION, worker)
        Approval.objects.filter(pk=approval.pk).update(payload={"verb": "terminate"})
        with pytest.raises(Conflict, match="has changed"):
            decide_approval(actor=owner, approval=approval, status=ApprovalStatus.APPROVED)

    def test_what_is_not_what_the_person_saw_is_refused(self, owner: Person, worker: Worker, no_carriers: None) -> None:
        approval = ask(ApprovalKind.ACTION, worker)
        decide = partial(decide_approval, actor=owner, approval=approval, status=ApprovalStatus.APPROVED)
        with pytest.raises(Conflict, match="has changed"):
            decide(shown_hash="0" * 64)
        assert decide(shown_hash=approval.payload_hash).status == ApprovalStatus.APPROVED


Carrier = Callable[[Approval, Actor], None]


@pytest.fixture
def no_carriers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "approval_carriers", ())


@pytest.fixture
def carry(monkeypatch: pytest.MonkeyPatch) -> Callable[[Carrier], None]:
    """Puts one carrier in place of those of the application."""
    return lambda carrier: monkeypatch.setattr(listeners, "approval_carriers", (carrier,))


class TestCarryingOut:
    def test_an_approved_action_is_carried_out_in_the_same_transaction(
        self, owner: Person, worker: Worker, home: Issue, carry: Callable[[Carrier], None]
    ) -> None:
        carry(lambda approval, actor: void(set_priority(actor=owner, issue=approval.issue, priority=Priority.HIGH)))
        decide_approval(actor=owner, approval=ask(ApprovalKind.ACTION, worker), status=ApprovalStatus.APPROVED)
        home.refresh_from_db()
        assert home.priority == Priority.HIGH

    @pytest.mark.parametrize("status", [ApprovalStatus.REFUSED, ApprovalStatus.SENT_BACK])
    def test_what_is_not_approved_is_not_carried_out(
        self, status: ApprovalStatus, owner: Person, worker: Worker, carry: Callable[[Carrier], None]
    ) -> None:
        carried: list[Approval] = []
        carry(lambda approval, actor: carried.append(approval))
        decide_approval(actor=owner, approval=ask(ApprovalKind.ACTION, worker), status=status)
        assert carried == []

    def test_a_request_carries_nothing(self, owner: Person, worker: Worker, carry: Callable[[Carrier], None]) -> None:
        carried: list[Approval] = []
        carry(lambda approval, actor: carried.append(approval))
        decide_approval(actor=owner, approval=ask(ApprovalKind.REQUEST, worker), status=ApprovalStatus.APPROVED)
        assert carried == []

    def test_an_action_that_is_refused_leaves_the_decision_says_why_and_changes_nothing(
        self, owner: Person, worker: Worker, home: Issue, carry: Callable[[Carrier], None]
    ) -> None:
        def fail_half_way(approval: Approval, actor: Actor) -> None:
            set_priority(actor=owner, issue=approval.issue, priority=Priority.HIGH)
            raise Conflict("The label is gone.")

        carry(fail_half_way)
        decided = decide_approval(
            actor=owner, approval=ask(ApprovalKind.ACTION, worker), status=ApprovalStatus.APPROVED
        )
        assert (decided.status, decided.failure) == (ApprovalStatus.APPROVED, "The label is gone.")
        home.refresh_from_db()
        assert home.priority == Priority.NONE
        assert InboxItem.objects.filter(member=owner.member, kind=InboxKind.FAILURE, approval=decided).exists()
        assert "could not be carried out" in build.pending(worker.agent)[0].reason

    def test_a_bug_takes_the_decision_back(
        self, owner: Person, worker: Worker, carry: Callable[[Carrier], None]
    ) -> None:
        def break_down(approval: Approval, actor: Actor) -> None:
            raise ZeroDivisionError

        carry(break_down)
        approval = ask(ApprovalKind.ACTION, worker)
        with pytest.raises(ZeroDivisionError):
            decide_approval(actor=owner, approval=approval, status=ApprovalStatus.APPROVED)
        approval.refresh_from_db()
        assert approval.is_pending


class TestAsking:
    def test_a_request_goes_to_the_whole_board_and_a_question_to_the_responsible_person(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        boss, viewer = build.member(company, "boss"), build.member(company, "vi", role=Role.VIEWER)
        worker = build.at_work(ada, build.issue(company, actor=boss, assignee=ada))

        def told(approval: Approval) -> set[int]:
            return set(InboxItem.objects.filter(approval=approval).values_list("member", flat=True))

        board = {build.member_row(owner).pk, build.member_row(boss).pk}
        assert told(ask(ApprovalKind.REQUEST, worker)) == board
        assert told(ask(ApprovalKind.ACTION, worker)) == board
        assert told(ask(ApprovalKind.QUESTION, worker)) == {build.member_row(boss).pk}
        assert build.member_row(viewer).pk not in board

    def test_a_question_of_whom_nobody_answers_for_any_more_goes_to_an_owner(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        boss = build.member(company, "boss")
        issue = build.issue(company, actor=boss, assignee=ada)
        remove_member(actor=owner, member=build.member_row(boss))
        issue = Issue.objects.get(pk=issue.pk)
        ask_question(actor=build.at_work(ada, issue, by=owner), issue=issue, question="Which one?")
        assert InboxItem.objects.get().member == owner.member

    def test_on_a_closed_issue_nothing_is_asked(self, company: Company, ada: Agent, owner: Person) -> None:
        worker = build.at_work(ada, build.issue(company, assignee=ada))
        set_status(actor=owner, issue=worker.home, status=Status.DONE)
        for kind in ApprovalKind:
            with pytest.raises(Conflict, match="closed"):
                ask(kind, worker)


class TestAnsweringByComment:
    def test_a_persons_comment_answers_an_open_question(self, owner: Person, worker: Worker, home: Issue) -> None:
        question = ask(ApprovalKind.QUESTION, worker)
        build.comment(home, "Take this one.", actor=owner)
        question.refresh_from_db()
        assert (question.status, question.note) == (ApprovalStatus.ANSWERED, "Take this one.")
        assert question.decided_by == owner.member
        assert WakeupSource.APPROVAL_DECIDED in [wakeup.source for wakeup in build.pending(worker.agent, home)]

    def test_it_answers_no_request_and_an_agents_answers_nothing(
        self, company: Company, owner: Person, bob: Agent, worker: Worker, home: Issue
    ) -> None:
        request, question = ask(ApprovalKind.REQUEST, worker), ask(ApprovalKind.QUESTION, worker)
        build.comment(home, "I think so.", actor=build.at_work(bob, build.issue(company)))
        question.refresh_from_db()
        assert question.is_pending
        build.comment(home, "Yes.", actor=owner)
        request.refresh_from_db()
        assert request.is_pending

    def test_nobody_answers_their_own_question_by_going_on_writing(
        self, company: Company, owner: Person, issue: Issue
    ) -> None:
        question = ask_question(actor=owner, issue=issue, question="Which one?")
        build.comment(issue, "I mean the colour.", actor=owner)
        question.refresh_from_db()
        assert question.is_pending
        build.comment(issue, "Blue.", actor=build.member(company, "boss"))
        question.refresh_from_db()
        assert question.note == "Blue."

    def test_a_long_answer_is_cut_at_a_whole_character(self, owner: Person, worker: Worker, home: Issue) -> None:
        question = ask(ApprovalKind.QUESTION, worker)
        build.comment(home, "x" + "語" * 20_000, actor=owner)
        question.refresh_from_db()
        assert question.note == "x" + "語" * 3_333


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    @pytest.mark.parametrize("_", range(3))
    def test_two_people_make_one_decision(
        self, _: int, company: Company, owner: Person, worker: Worker, home: Issue
    ) -> None:
        boss = build.member(company, "boss")
        approval = ask(ApprovalKind.REQUEST, worker)
        decide = partial(decide_approval, approval=approval)
        outcomes = at_once(
            [
                partial(decide, actor=owner, status=ApprovalStatus.APPROVED),
                partial(decide, actor=boss, status=ApprovalStatus.REFUSED),
            ]
        )
        made = [outcome for outcome in outcomes if isinstance(outcome, Approval)]
        assert [type(outcome) for outcome in outcomes if outcome not in made] == [Conflict]
        approval.refresh_from_db()
        assert (approval.status, approval.decided_by_id) == (made[0].status, made[0].decided_by_id)
        assert Activity.objects.filter(kind="approval.decided").count() == 1
        assert len(build.pending(worker.agent, home)) == 1

    @pytest.mark.parametrize("_", range(3))
    def test_a_closing_and_a_decision_end_an_approval_once(
        self, _: int, owner: Person, worker: Worker, home: Issue
    ) -> None:
        approval = ask(ApprovalKind.REQUEST, worker)
        at_once(
            [
                partial(decide_approval, actor=owner, approval=approval, status=ApprovalStatus.APPROVED),
                partial(set_status, actor=owner, issue=home, status=Status.DONE),
            ]
        )
        assert Activity.objects.filter(kind="approval.decided").count() == 1

    @pytest.mark.parametrize("_", range(3))
    def test_what_is_asked_while_the_issue_closes_does_not_stay_behind(
        self, _: int, owner: Person, worker: Worker, home: Issue
    ) -> None:
        at_once(
            [
                partial(ask, ApprovalKind.REQUEST, worker),
                partial(set_status, actor=owner, issue=home, status=Status.DONE),
            ]
        )
        assert not home.approvals.filter(status=ApprovalStatus.PENDING).exists()

    @pytest.mark.parametrize("_", range(3))
    def test_two_comments_that_answer_one_question_are_both_posted(
        self, _: int, company: Company, owner: Person, worker: Worker, home: Issue
    ) -> None:
        boss = build.member(company, "boss")
        ask(ApprovalKind.QUESTION, worker)
        outcomes = at_once([partial(build.comment, home, "This.", actor=person) for person in (owner, boss)])
        assert [type(outcome) for outcome in outcomes] == [Comment, Comment]
        assert Activity.objects.filter(kind="approval.decided").count() == 1


def test_a_decision_on_a_closed_issue_is_written_and_wakes_nobody(
    owner: Person, worker: Worker, home: Issue, no_carriers: None
) -> None:
    """An agent closed it while an action of its own still waited."""
    approval = ask(ApprovalKind.ACTION, worker)
    build.comment(home, "Done.", actor=worker)
    set_status(actor=worker, issue=home, status=Status.DONE)
    decide_approval(actor=owner, approval=approval, status=ApprovalStatus.APPROVED)
    assert build.pending(worker.agent, home) == []
    assert home.wakeups.filter(state=WakeupState.REFUSED, ended_because="The issue is closed.").count() == 1


def void(_: object) -> None:
    """Makes an expression of what is called for its effect."""
