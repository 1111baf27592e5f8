"""What happens to an issue, and whom it wakes by which source: one table, with what wakes nobody in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from agents.models import Agent, Wakeup, WakeupState
from agents.services.agents import pause_agent, worker_for
from agents.services.wakeups import run_heartbeat, wake_on_schedule
from issues.actors import Person, Worker
from issues.models import ApprovalStatus, Company, Issue, Priority, Status
from issues.services.approvals import decide_approval, request_approval
from issues.services.blockers import add_blockers, remove_blockers
from issues.services.comments import pin_comment
from issues.services.issues import assign_issue, delete_issue, edit_issue, set_priority, set_status
from issues.services.reviews import set_reviewers
from tests import build

pytestmark = pytest.mark.django_db


@dataclass
class Scene:
    """Ada's issue, Bob beside it, Tria for what has no assignee. What they were woken by so far is forgotten."""

    company: Company
    owner: Person
    ada: Agent
    bob: Agent
    issue: Issue
    part: Issue
    blocked: Issue
    blocker: Issue

    @property
    def bob_outside(self) -> Worker:
        return worker_for(self.bob)

    def set(self, status: Status, issue: Issue | None = None) -> Issue:
        issue = Issue.objects.get(pk=(issue or self.issue).pk)
        return set_status(actor=self.owner, issue=issue, status=status)

    def decide(self, status: ApprovalStatus) -> None:
        approval = request_approval(actor=build.at_work(self.ada, self.issue), issue=self.issue, title="May I?")
        decide_approval(actor=self.owner, approval=approval, status=status)

    def review(self) -> None:
        set_reviewers(actor=self.owner, issue=self.issue, reviewers=[self.bob])
        self.set(Status.IN_REVIEW)


@pytest.fixture
def scene() -> Scene:
    company, owner = build.company_with_founder()
    build.triage(company)
    ada, bob = build.agent(company, "Ada"), build.agent(company, "Bob")
    issue = build.issue(company, "At hand", assignee=ada)
    part = build.issue(company, "A part", parent=issue, assignee=owner.member)
    blocker = build.issue(company, "In the way", assignee=owner.member)
    blocked = build.issue(company, "Waits", assignee=ada, blockers=[blocker])
    Wakeup.objects.all().delete()
    return Scene(company, owner, ada, bob, issue, part, blocked, blocker)


def comment(body: str) -> Callable[[Scene], object]:
    return lambda scene: build.comment(scene.issue, body)


def bobs_comment(body: str) -> Callable[[Scene], object]:
    return lambda scene: build.comment(scene.issue, body, actor=scene.bob_outside)


def open_issue(**fields: object) -> Callable[[Scene], object]:
    return lambda scene: build.issue(scene.company, **fields)


MATRIX: dict[str, tuple[Callable[[Scene], object], set[tuple[str, str]]]] = {
    "a person mentions an agent": (comment("@bob, please."), {("bob", "mention")}),
    "a person mentions the assignee": (comment("@ada, please."), {("ada", "mention")}),
    "a person mentions two": (comment("@ada and @bob."), {("ada", "mention"), ("bob", "mention")}),
    "a person comments": (comment("Well."), {("ada", "commented")}),
    "a person mentions in code": (comment("`@bob`"), {("ada", "commented")}),
    "a person quotes a mention": (comment("> @bob\n\nWell."), {("ada", "commented")}),
    "a person writes an address": (comment("bob@bob.example"), {("ada", "commented")}),
    "an agent comments": (bobs_comment("Well."), set()),
    "an agent mentions the assignee": (bobs_comment("@ada, look."), {("ada", "mention")}),
    "an agent mentions itself": (bobs_comment("I, @bob, was here."), set()),
    "a description mentions": (open_issue(description="For @bob.", status=Status.BACKLOG), {("bob", "mention")}),
    "it is assigned": (
        lambda scene: assign_issue(actor=scene.owner, issue=scene.issue, assignee=scene.bob),
        {("bob", "assigned")},
    ),
    "it is assigned to a person": (
        lambda scene: assign_issue(actor=scene.owner, issue=scene.issue, assignee=build.member_row(scene.owner)),
        set(),
    ),
    "it is begun": (lambda scene: scene.set(Status.IN_PROGRESS), {("ada", "assigned")}),
    "it is put off": (lambda scene: scene.set(Status.BACKLOG), set()),
    "it is closed": (lambda scene: scene.set(Status.CANCELLED), set()),
    "a person asks for a run": (
        lambda scene: run_heartbeat(actor=scene.owner, agent=scene.bob, issue=scene.issue),
        {("bob", "manual")},
    ),
    "a paused agent is mentioned": (
        lambda scene: (pause_agent(actor=scene.owner, agent=scene.bob), build.comment(scene.issue, "@bob")),
        set(),
    ),
    "its last blocker is done": (
        lambda scene: scene.set(Status.DONE, scene.blocker),
        {("ada", "blocker_resolved")},
    ),
    "its last blocker is cancelled": (
        lambda scene: scene.set(Status.CANCELLED, scene.blocker),
        {("ada", "blocker_resolved")},
    ),
    "its last blocker is taken off": (
        lambda scene: remove_blockers(actor=scene.owner, issue=scene.blocked, blockers=[scene.blocker]),
        {("ada", "blocker_resolved")},
    ),
    "its last blocker is deleted": (
        lambda scene: delete_issue(actor=scene.owner, issue=scene.blocker),
        {("ada", "blocker_resolved")},
    ),
    "one of two blockers is done": (
        lambda scene: (
            add_blockers(actor=scene.owner, issue=scene.blocked, blockers=[scene.issue]),
            scene.set(Status.DONE, scene.blocker),
        ),
        set(),
    ),
    "its blocker begins": (lambda scene: scene.set(Status.IN_PROGRESS, scene.blocker), set()),
    "its last part is closed": (lambda scene: scene.set(Status.DONE, scene.part), {("ada", "child_closed")}),
    "one of two parts is closed": (
        lambda scene: (
            build.issue(scene.company, parent=scene.issue, assignee=scene.owner.member),
            scene.set(Status.DONE, scene.part),
        ),
        set(),
    ),
    "it enters review": (lambda scene: scene.review(), {("bob", "review_requested")}),
    "its approval is granted": (lambda scene: scene.decide(ApprovalStatus.APPROVED), {("ada", "approval_decided")}),
    "its approval is refused": (lambda scene: scene.decide(ApprovalStatus.REFUSED), {("ada", "approval_decided")}),
    "its approval is sent back": (lambda scene: scene.decide(ApprovalStatus.SENT_BACK), {("ada", "approval_decided")}),
    "one without assignee is opened": (open_issue(), {("tria", "created")}),
    "one is opened for later": (open_issue(status=Status.BACKLOG), set()),
    "it is reworded": (lambda scene: edit_issue(actor=scene.owner, issue=scene.issue, title="Other words"), set()),
    "its priority is set": (
        lambda scene: set_priority(actor=scene.owner, issue=scene.issue, priority=Priority.URGENT),
        set(),
    ),
    "a comment is pinned": (
        lambda scene: pin_comment(actor=scene.owner, comment=build.comment(scene.issue, "Well.")),
        {("ada", "commented")},
    ),
    "an interval with nothing to go on with": (lambda scene: wake_on_schedule(agent=scene.bob), set()),
}


@pytest.mark.parametrize("event", MATRIX)
def test_it_wakes_whom_it_is_to_wake_and_nobody_else(event: str, scene: Scene) -> None:
    happens, woken = MATRIX[event]
    happens(scene)
    pending = Wakeup.objects.filter(state=WakeupState.PENDING).values_list("agent__handle", "source")
    assert sorted(pending) == sorted(woken)
