"""Comments: their limits, changing, deleting and pinning them."""

from __future__ import annotations

import pytest

from agents.models import Agent, Wakeup
from issues.actors import SYSTEM, Person
from issues.models import CommentVersion, Company, InboxItem, Issue, Reaction, ReactionKind
from issues.refusals import Conflict, Forbidden, Invalid, TooLarge
from issues.services.comments import delete_comment, edit_comment, pin_comment, unpin_comment, write_comment
from issues.services.issues import assign_issue
from issues.services.reactions import react, take_back_reaction
from issues.texts import TEXT_BYTES
from tests import build

pytestmark = pytest.mark.django_db


def test_a_comment_has_a_text_and_an_author(owner: Person, issue: Issue) -> None:
    for body in ("", "  \n\t "):
        with pytest.raises(Invalid, match="empty"):
            write_comment(actor=owner, issue=issue, body=body)
    with pytest.raises(Invalid, match="author"):
        write_comment(actor=SYSTEM, issue=issue, body="I am nobody.")


def test_a_text_is_kept_with_plain_line_ends_and_without_blank_lines_around(owner: Person, issue: Issue) -> None:
    body = " \t\n\r\n    One\r\nTwo\r\rThree \n\n"
    assert write_comment(actor=owner, issue=issue, body=body).body == "    One\nTwo\n\nThree"


@pytest.mark.parametrize("character", ["x", "ä", "語", "🙂"])
def test_a_text_may_have_64_kb_to_the_byte(character: str, owner: Person, issue: Issue) -> None:
    size = len(character.encode())
    fits = character * (TEXT_BYTES // size)
    assert write_comment(actor=owner, issue=issue, body=fits).body == fits
    with pytest.raises(TooLarge):
        write_comment(actor=owner, issue=issue, body=fits + character)


@pytest.mark.parametrize("text", ["\x00", "before\x00after", "\ud800", "half \udfff"])
def test_what_no_database_can_hold_is_refused(text: str, owner: Person, issue: Issue) -> None:
    with pytest.raises(Invalid):
        write_comment(actor=owner, issue=issue, body=text)


def test_only_the_author_changes_a_comment(company: Company, owner: Person, ada: Agent, issue: Issue) -> None:
    boss = build.member(company, "boss")
    by_boss = build.comment(issue, actor=boss)
    by_ada = build.comment(issue, actor=build.at_work(ada, issue))
    for comment in (by_boss, by_ada):
        with pytest.raises(Forbidden, match="author"):
            edit_comment(actor=owner, comment=comment, body="Changed.")
        with pytest.raises(Forbidden, match="author"):
            delete_comment(actor=owner, comment=comment)


def test_a_change_shows_and_one_that_changes_nothing_does_not(owner: Person, issue: Issue) -> None:
    comment = build.comment(issue, "Once.")
    assert edit_comment(actor=owner, comment=comment, body="\nOnce. ").edited_at is None
    changed = edit_comment(actor=owner, comment=comment, body="Twice.")
    assert (changed.body, changed.edited_at is None) == ("Twice.", False)


def test_what_a_comment_said_before_is_kept_with_its_time(owner: Person, issue: Issue) -> None:
    comment = build.comment(issue, "Once.")
    for body in ("Twice.", "Twice.", "Thrice."):
        comment = edit_comment(actor=owner, comment=comment, body=body)
    versions = [(version.body, version.written_at) for version in comment.versions.order_by("pk")]
    assert [body for body, _ in versions] == ["Once.", "Twice."]
    assert versions[0][1] == comment.created_at < versions[1][1] < comment.edited_at


class TestAnEditWakes:
    def test_nobody_by_itself(self, owner: Person, ada: Agent, bob: Agent, issue: Issue) -> None:
        comment = build.comment(issue, "Hm.")
        Wakeup.objects.all().delete()
        edit_comment(actor=owner, comment=comment, body="@bob, look.")
        assert not Wakeup.objects.exists()

    def test_whom_a_new_comment_would_if_it_is_to(self, owner: Person, ada: Agent, bob: Agent, issue: Issue) -> None:
        assign_issue(actor=owner, issue=issue, assignee=ada)
        comment = build.comment(issue, "@bob, look.")
        Wakeup.objects.all().delete()
        edit_comment(actor=owner, comment=comment, body="@bob, look there.", call=True)
        assert [(wakeup.agent, wakeup.source) for wakeup in Wakeup.objects.all()] == [(bob, "mention")]
        edit_comment(actor=owner, comment=comment, body="Look.", call=True)
        assert [wakeup.source for wakeup in build.pending(ada)] == ["commented"]


def test_a_deleted_comment_leaves_nothing_of_what_it_said_before(owner: Person, issue: Issue) -> None:
    comment = edit_comment(actor=owner, comment=build.comment(issue, "A secret."), body="None.")
    react(actor=owner, comment=comment, kind=ReactionKind.AGREE)
    delete_comment(actor=owner, comment=comment)
    assert not CommentVersion.objects.exists()
    assert not Reaction.objects.exists()


class TestReactions:
    def test_each_is_given_once_and_taken_back(self, company: Company, owner: Person, issue: Issue) -> None:
        comment, boss = build.comment(issue), build.member(company, "boss")
        for actor in (owner, owner, boss):
            react(actor=actor, comment=comment, kind=ReactionKind.AGREE)
        react(actor=owner, comment=comment, kind=ReactionKind.UNCLEAR)
        assert comment.reactions.count() == 3
        for _ in range(2):
            take_back_reaction(actor=owner, comment=comment, kind=ReactionKind.AGREE)
        left = {(reaction.member, reaction.kind) for reaction in comment.reactions.all()}
        assert left == {(boss.member, ReactionKind.AGREE), (owner.member, ReactionKind.UNCLEAR)}

    def test_they_wake_nobody_and_are_told_to_nobody(self, owner: Person, ada: Agent, issue: Issue) -> None:
        comment = build.comment(issue, actor=build.at_work(ada, issue))
        before = (Wakeup.objects.count(), InboxItem.objects.count())
        react(actor=owner, comment=comment, kind=ReactionKind.THANKS)
        assert (Wakeup.objects.count(), InboxItem.objects.count()) == before

    def test_a_deleted_comment_takes_none(self, owner: Person, issue: Issue) -> None:
        comment = delete_comment(actor=owner, comment=build.comment(issue))
        with pytest.raises(Conflict, match="deleted"):
            react(actor=owner, comment=comment, kind=ReactionKind.AGREE)


def test_a_deleted_comment_loses_its_text_and_its_pin_and_stays_as_a_place(owner: Person, issue: Issue) -> None:
    comment = pin_comment(actor=owner, comment=build.comment(issue, "A secret."))
    deleted = delete_comment(actor=owner, comment=comment)
    assert "secret" not in deleted.body
    assert (deleted.pinned_at, deleted.pinned_by) == (None, None)
    with pytest.raises(Conflict, match="deleted"):
        edit_comment(actor=owner, comment=comment, body="Again.")
    with pytest.raises(Conflict, match="deleted"):
        pin_comment(actor=owner, comment=deleted)


def test_pinning_names_who_pinned_and_twice_is_once(company: Company, owner: Person, issue: Issue) -> None:
    boss = build.member(company, "boss")
    comment = pin_comment(actor=boss, comment=build.comment(issue))
    assert pin_comment(actor=owner, comment=comment).pinned_by == boss.member
    unpinned = unpin_comment(actor=owner, comment=comment)
    assert (unpinned.pinned_at, unpinned.pinned_by) == (None, None)


def test_an_agents_comment_names_its_run(ada: Agent, issue: Issue) -> None:
    worker = build.at_work(ada, issue)
    comment = build.comment(issue, actor=worker)
    assert (comment.author_agent, comment.author_member, comment.run) == (ada, None, worker.run)
