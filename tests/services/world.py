"""A company in which every use case can be tried: its people, agents and things."""

from __future__ import annotations

from functools import cached_property
from typing import TypeGuard

from agents.models import Agent, CompanyProvider, Note, Observation, Routine, Run, Skill
from agents.services import notebook
from agents.services.agents import worker_for
from issues.actors import Actor, Person, Worker
from issues.models import (
    ApiKey,
    Approval,
    Comment,
    Hook,
    Issue,
    Label,
    Project,
    ReactionKind,
    Role,
    Status,
    Webhook,
)
from issues.services import (
    blockers,
    comments,
    companies,
    keys,
    projects,
    reactions,
    reviews,
    webhooks,
)
from issues.services import issues as tracker
from tests import build


class World:
    """A company with somebody in each role, and things to act on, made when they are first asked for."""

    def __init__(self) -> None:
        self.company, self.owner = build.company_with_founder(agents_may_create_labels=True)

    @cached_property
    def board(self) -> Person:
        return build.member(self.company, "bo", role=Role.BOARD)

    @cached_property
    def viewer(self) -> Person:
        return build.member(self.company, "vi", role=Role.VIEWER)

    @cached_property
    def removed(self) -> Person:
        """Somebody who was an owner."""
        was = build.member(self.company, "rem", role=Role.OWNER)
        companies.remove_member(actor=self.owner, member=build.member_row(was))
        return Person(was.user)

    @cached_property
    def stranger(self) -> Person:
        """The owner of another company."""
        return build.company_with_founder("OTHER")[1]

    @cached_property
    def ada(self) -> Agent:
        return build.agent(self.company, "Ada", max_concurrent_runs=10)

    @cached_property
    def bob(self) -> Agent:
        return build.agent(self.company, "Bob")

    @cached_property
    def own(self) -> Issue:
        """Ada's issue, on which she is at work."""
        return build.issue(self.company, "Ada's work", assignee=self.ada)

    @cached_property
    def worker(self) -> Worker:
        return build.at_work(self.ada, self.own)

    @cached_property
    def foreign_worker(self) -> Worker:
        """An agent of another company, at work there."""
        other, _ = build.company_with_founder("ALIEN")
        mallory = build.agent(other, "Mallory")
        return build.at_work(mallory, build.issue(other, assignee=mallory))

    @cached_property
    def spare(self) -> Issue:
        """An issue that nobody is at work on."""
        return build.issue(self.company, "Something else")

    @cached_property
    def child(self) -> Issue:
        """A child of Ada's issue, so hers to move."""
        return build.issue(self.company, "A part of it", parent=self.own)

    @cached_property
    def label(self) -> Label:
        return build.label(self.company)

    @cached_property
    def labelled(self) -> Issue:
        self.worker  # noqa: B018 - the run begins before
        return projects.add_labels(actor=self.owner, issue=self.own, labels=[self.label])

    @cached_property
    def blocked(self) -> Issue:
        self.worker  # noqa: B018
        return blockers.add_blockers(actor=self.owner, issue=self.own, blockers=[self.spare])

    @cached_property
    def project(self) -> Project:
        return build.project(self.company)

    @cached_property
    def request(self) -> Approval:
        return build.approval(self.own, actor=self.worker)

    @cached_property
    def skill(self) -> Skill:
        return build.skill(self.company)

    @cached_property
    def routine(self) -> Routine:
        return build.routine(self.company, self.ada)

    @cached_property
    def provider(self) -> CompanyProvider:
        return build.provider(self.company)

    @cached_property
    def webhook(self) -> Webhook:
        return webhooks.add_webhook(actor=self.owner, company=self.company, url="https://a.test/", kinds=["issue"])[0]

    @cached_property
    def hook(self) -> Hook:
        return build.hook(self.company)[0]

    @cached_property
    def key(self) -> ApiKey:
        return keys.create_agent_key(actor=self.owner, agent=self.bob)[0]

    @cached_property
    def bobs_run(self) -> Run:
        run = build.at_work(self.bob, self.spare).run
        assert run is not None
        return run

    def comment_of(self, actor: Actor) -> Comment:
        """A comment by the actor, or by the owner for those who may not write one."""
        writes = isinstance(actor, Worker) or actor in (self.owner, self.board)
        return build.comment(self.own, actor=actor if writes else self.owner)

    def note_of(self, actor: Actor) -> str:
        """The key of a note in the actor's notebook, if it can have one."""
        if self.employs(actor):
            notebook.write_note(actor=actor, issue=self.own, key="idea", text="Ask Bob.")
        return "idea"

    def thanked(self, actor: Actor) -> Comment:
        """A comment to which the actor has reacted, or the owner for those who may not."""
        comment = build.comment(self.own)
        reacts = actor if actor in (self.owner, self.board) else self.owner
        reactions.react(actor=reacts, comment=comment, kind=ReactionKind.THANKS)
        return comment

    @cached_property
    def bobs_note(self) -> Note:
        bob = worker_for(self.bob, self.bobs_run)
        return notebook.write_note(actor=bob, issue=self.spare, key="plan", text="First this.")

    @cached_property
    def bobs_observation(self) -> Observation:
        bob = worker_for(self.bob, self.bobs_run)
        return notebook.remember(actor=bob, issue=self.spare, text="It breaks on Mondays.")

    def pinned(self) -> Comment:
        return comments.pin_comment(actor=self.owner, comment=build.comment(self.own))

    def in_review(self, actor: Actor) -> Issue:
        """An issue that waits for the actor's verdict."""
        issue = build.issue(self.company, "To be judged", assignee=self.bob)
        if self.employs(actor):
            reviews.set_reviewers(actor=self.owner, issue=issue, reviewers=[actor.agent])
        return tracker.set_status(actor=self.owner, issue=issue, status=Status.IN_REVIEW)

    def judge(self, actor: Actor, issue: Issue) -> Actor:
        """The actor as it comes to judge: an agent in a run on the issue."""
        return build.at_work(actor.agent, issue) if self.employs(actor) else actor

    def employs(self, actor: Actor) -> TypeGuard[Worker]:
        return isinstance(actor, Worker) and actor.agent.company_id == self.company.pk
