"""Following an issue: who does, and what they are told."""

from __future__ import annotations

import pytest

from agents.models import Agent
from issues.actors import Person
from issues.models import Company, InboxItem, InboxKind, Issue, Member, Role, Status, Watch
from issues.refusals import Forbidden
from issues.services.comments import write_comment
from issues.services.companies import remove_member
from issues.services.issues import assign_issue, edit_issue, set_status
from issues.services.reviews import set_reviewers
from issues.services.watching import unwatch_issue, watch_issue
from tests import build

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(company: Company) -> Person:
    """Somebody who has nothing to do with the issue, and may not even act."""
    return build.member(company, "reader", role=Role.VIEWER)


def watchers(issue: Issue) -> set[Member]:
    return {watch.member for watch in Watch.objects.filter(issue=issue).select_related("member")}


def told(kind: InboxKind, person: Person) -> list[str]:
    items = InboxItem.objects.filter(kind=kind, member=person.member, archived_at=None)
    return [item.text for item in items.order_by("pk")]


class TestWhoFollows:
    def test_whoever_says_so_until_they_say_otherwise(self, issue: Issue, reader: Person) -> None:
        watch_issue(actor=reader, issue=issue)
        watch_issue(actor=reader, issue=issue)
        assert watchers(issue) == {reader.member}
        unwatch_issue(actor=reader, issue=issue)
        assert watchers(issue) == set()

    def test_whoever_comments(self, company: Company, issue: Issue, owner: Person) -> None:
        build.comment(issue, actor=owner)
        assert watchers(issue) == {owner.member}

    def test_whoever_is_named_by_a_person_an_agent_or_the_description(
        self, company: Company, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        first, second, third = (build.member(company, name) for name in ("first", "second", "third"))
        build.comment(issue, "@second, look.", actor=build.at_work(ada, issue))
        edit_issue(actor=owner, issue=issue, description="For @third.")
        write_comment(actor=owner, issue=issue, body="@first", without=["first"])
        assert watchers(issue) == {owner.member, second.member, third.member}
        assert first.member not in watchers(issue), "it was not to be called"

    def test_no_agent(self, ada: Agent, issue: Issue) -> None:
        worker = build.at_work(ada, issue)
        build.comment(issue, actor=worker)
        with pytest.raises(Forbidden, match="Only people follow"):
            watch_issue(actor=worker, issue=issue)
        assert not watchers(issue)


class TestWhatTheyAreTold:
    @pytest.mark.parametrize("status", [Status.IN_REVIEW, Status.DONE])
    def test_that_it_is_in_review_or_done(self, owner: Person, reader: Person, issue: Issue, status: Status) -> None:
        watch_issue(actor=reader, issue=issue)
        set_status(actor=owner, issue=issue, status=status)
        assert told(InboxKind.MOVED, reader) == [f"{issue.identifier} is {status.label.lower()}."]

    @pytest.mark.parametrize("status", sorted({*Status} - {Status.IN_REVIEW, Status.DONE, Status.TODO}))
    def test_nothing_else(self, owner: Person, reader: Person, issue: Issue, status: Status) -> None:
        watch_issue(actor=reader, issue=issue)
        set_status(actor=owner, issue=issue, status=status)
        assert told(InboxKind.MOVED, reader) == []

    def test_nobody_hears_of_what_they_did_themselves(self, owner: Person, issue: Issue) -> None:
        watch_issue(actor=owner, issue=issue)
        set_status(actor=owner, issue=issue, status=Status.DONE)
        assert told(InboxKind.MOVED, owner) == []

    def test_an_agents_done_reaches_who_opened_it_and_who_has_it(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        boss, worker = build.member(company, "boss"), build.member(company, "worker")
        issue = build.issue(company, actor=boss, responsible=owner.member)
        assign_issue(actor=owner, issue=issue, assignee=build.member_row(worker))
        actor = build.at_work(ada, issue, by=owner)
        build.comment(issue, "It is done.", actor=actor)
        set_status(actor=owner, issue=issue, status=Status.DONE)
        assert told(InboxKind.MOVED, boss) == told(InboxKind.MOVED, worker) == [f"{issue.identifier} is done."]

    def test_parts_that_agents_open_do_not_flood_who_answers_for_them(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        issue = build.issue(company, assignee=ada)
        worker = build.at_work(ada, issue)
        part = build.issue(company, parent=issue, actor=worker)
        build.comment(part, "Here.", actor=worker)
        set_status(actor=worker, issue=part, status=Status.DONE)
        assert part.responsible == owner.member
        assert told(InboxKind.MOVED, owner) == []

    def test_who_is_asked_to_judge_is_not_told_beside(self, company: Company, owner: Person, issue: Issue) -> None:
        boss = build.member(company, "boss")
        set_reviewers(actor=owner, issue=issue, reviewers=[build.member_row(boss)])
        watch_issue(actor=boss, issue=issue)
        set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
        assert (told(InboxKind.MOVED, boss), len(told(InboxKind.REVIEW, boss))) == ([], 1)

    def test_who_has_left_hears_nothing(self, owner: Person, reader: Person, issue: Issue) -> None:
        watch_issue(actor=reader, issue=issue)
        remove_member(actor=owner, member=build.member_row(reader))
        set_status(actor=owner, issue=issue, status=Status.DONE)
        assert told(InboxKind.MOVED, reader) == []

    def test_the_same_unread_word_stands_once(self, owner: Person, reader: Person, issue: Issue) -> None:
        watch_issue(actor=reader, issue=issue)
        for status in (Status.DONE, Status.TODO, Status.DONE):
            issue = set_status(actor=owner, issue=issue, status=status)
        assert len(told(InboxKind.MOVED, reader)) == 1


class TestAnswers:
    def test_an_agents_first_comment_after_mine_is_told_and_no_later_one(
        self, company: Company, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        worker = build.at_work(ada, issue)
        build.comment(issue, "To begin with.", actor=worker)
        assert told(InboxKind.ANSWER, owner) == []
        build.comment(issue, "Why?", actor=owner)
        answer = build.comment(issue, "Because.", actor=worker)
        build.comment(issue, "And so on.", actor=worker)
        assert told(InboxKind.ANSWER, owner) == [f"Ada answered you on {issue.identifier}."]
        assert InboxItem.objects.get(kind=InboxKind.ANSWER).comment == answer

    def test_each_who_waits_is_told_and_a_person_answers_nobody(
        self, company: Company, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        boss = build.member(company, "boss")
        build.comment(issue, "One.", actor=owner)
        build.comment(issue, "Two.", actor=boss)
        assert not InboxItem.objects.filter(kind=InboxKind.ANSWER).exists()
        build.comment(issue, "Both.", actor=build.at_work(ada, issue))
        assert len(told(InboxKind.ANSWER, owner)) == len(told(InboxKind.ANSWER, boss)) == 1

    def test_whom_the_answer_names_hears_of_that_alone(self, owner: Person, ada: Agent, issue: Issue) -> None:
        build.comment(issue, "Why?", actor=owner)
        build.comment(issue, f"@{build.member_row(owner).handle}: because.", actor=build.at_work(ada, issue))
        assert (told(InboxKind.ANSWER, owner), len(told(InboxKind.MENTION, owner))) == ([], 1)

    def test_another_issues_comments_do_not_count(
        self, company: Company, owner: Person, ada: Agent, issue: Issue
    ) -> None:
        build.comment(build.issue(company), "Elsewhere.", actor=owner)
        build.comment(issue, "Here.", actor=build.at_work(ada, issue))
        assert told(InboxKind.ANSWER, owner) == []
