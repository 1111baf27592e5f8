"""Notices by e-mail: who is sent what, once, whatever the mail server does."""

from __future__ import annotations

import datetime
import smtplib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope
from django.core import mail
from django.db import connection
from django.test import Client
from django.utils import timezone

from agents.services.spending import Cost, reserve, set_budget, settle
from engine import notices, tasks
from engine.notices import deliver_notices
from issues.actors import Person
from issues.effects import unit
from issues.models import ApprovalStatus, Company, InboxItem, InboxKind, Issue, Member, Notice, NoticeState, Role
from issues.notice_kinds import NOTICE_KINDS, name_of_kind
from issues.refusals import Invalid, NotFound
from issues.services.approvals import ask_question, decide_approval
from issues.services.companies import remove_member
from issues.services.inbox import mark_read, snooze_item
from issues.services.notices import AFTER, AT_ONCE, FIRST_WAIT, LEFT_BEHIND, LONGEST, OLDEST, choose_notices, claim_due
from tests import build
from tests.servers import free_port
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def configured(settings: Any) -> None:
    settings.NOTICES_BY_MAIL = True


@pytest.fixture
def boss(company: Company, owner: Person) -> Person:
    """A board member with an address."""
    member = build.member(company, "boss")
    choose_notices(actor=member, company=company, email="boss@example.org", names=["mention", "asked", "budget"])
    return member


@pytest.fixture
def issue(company: Company) -> Issue:
    return build.issue(company, "Write the guide")


def mention(issue: Issue, words: str = "Look, @boss.") -> InboxItem:
    build.comment(issue, words)
    return InboxItem.objects.filter(kind=InboxKind.MENTION).latest("pk")


def make_due() -> None:
    Notice.objects.filter(state=NoticeState.PENDING).update(due_at=timezone.now())


def deliver() -> None:
    """What the ticks do once the first minute is over."""
    deliver_notices()
    make_due()
    deliver_notices()


class TestHavingNoMore:
    def link_in(self, letter: mail.EmailMessage) -> str:
        header = str(letter.extra_headers["List-Unsubscribe"])
        assert header[1:-1] in letter.body
        return urlsplit(header[1:-1]).path

    def test_each_letter_has_a_link_that_stops_its_kind_alone(self, boss: Person, issue: Issue) -> None:
        mention(issue)
        deliver()
        link = self.link_in(mail.outbox[0])
        assert mail.outbox[0].extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        member = build.member_row(boss)
        assert "Somebody mentions you" in Client().get(link).content.decode()
        member.refresh_from_db()
        assert member.mailed == ["mention", "asked", "budget"]  # opening it does nothing yet
        for _ in range(2):
            # As a mail program does it: no cookie, no token, no log-in.
            answer = Client(enforce_csrf_checks=True).post(link, {"List-Unsubscribe": "One-Click"})
            assert answer.status_code == 200
        member.refresh_from_db()
        assert member.mailed == ["asked", "budget"]
        mention(issue, "Again, @boss.")
        deliver()
        assert len(mail.outbox) == 1

    def test_a_word_that_was_not_signed_stops_nothing(self, boss: Person, issue: Issue) -> None:
        mention(issue)
        deliver()
        link = self.link_in(mail.outbox[0])
        for wrong in (link[:-2] + "/", "/unsubscribe/nonsense/", link.replace(":", ";", 1)):
            answer = Client().post(wrong)
            assert answer.status_code == 422
            assert "does not work any more" in answer.content.decode()
        assert Member.objects.get(pk=build.member_row(boss).pk).mailed == ["mention", "asked", "budget"]


class TestWhoIsSentWhat:
    def test_a_mention_is_sent_with_one_link_to_the_comment(self, boss: Person, issue: Issue) -> None:
        item = mention(issue)
        deliver()
        [letter] = mail.outbox
        assert letter.to == ["boss@example.org"]
        assert letter.subject == "[ACME] Acme-founder mentioned you on ACME-1."
        assert "ACME-1 Write the guide" in letter.body
        assert f"/acme/issues/ACME-1/?comment={item.comment_id}#comment-{item.comment_id}\n" in letter.body
        assert "/acme/profile/#notices\n" in letter.body
        assert letter.content_subtype == "plain"

    def test_the_words_that_mention_are_not_in_it(self, boss: Person, issue: Issue) -> None:
        mention(issue, "The key is sk-canary-7f3a, @boss.")
        deliver()
        assert "canary" not in mail.outbox[0].message().as_string()

    def test_a_secret_in_a_title_is_masked(self, company: Company, boss: Person, owner: Person) -> None:
        secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
        issue = build.issue(company, f"Use {secret}")
        build.approval(issue, f"May I use {secret}?", actor=owner)
        mention(issue)
        deliver()
        assert len(mail.outbox) == 2
        for letter in mail.outbox:
            assert secret not in letter.message().as_string()
            assert "[masked: " in letter.body

    def test_a_question_and_a_budget_are_sent(
        self, company: Company, boss: Person, owner: Person, issue: Issue
    ) -> None:
        worker = build.at_work(build.agent(company, "Eve", adapter="external"), issue, by=owner)
        run = worker.run
        assert run is not None
        set_budget(actor=owner, company=company, tokens=100)
        with unit():
            reserve(run, Cost(90, 0), starts_run=False)
            settle(run, Cost(90, 0))
        build.approval(issue, "Publish it?", actor=worker)
        deliver()
        assert {letter.subject for letter in mail.outbox} >= {
            "[ACME] The company's monthly budget is near: 90 tokens of 100 tokens."
        }
        assert any("Publish it?" in letter.subject for letter in mail.outbox)

    def test_what_is_not_chosen_is_not_sent(self, company: Company, boss: Person, issue: Issue) -> None:
        choose_notices(actor=boss, company=company, email="boss@example.org", names=["budget"])
        mention(issue)
        deliver()
        assert mail.outbox == []
        assert Notice.objects.get().state == NoticeState.SKIPPED

    def test_without_an_address_nothing_is_sent(self, company: Company, boss: Person, issue: Issue) -> None:
        choose_notices(actor=boss, company=company, email="", names=[])
        mention(issue)
        deliver()
        assert mail.outbox == []

    def test_what_was_seen_decided_snoozed_or_lost_meanwhile_is_not_sent(
        self, company: Company, boss: Person, owner: Person, issue: Issue
    ) -> None:
        read, later = mention(issue), mention(issue, "Again, @boss.")
        approval = build.approval(issue, "Publish it?", actor=owner)
        question = ask_question(actor=owner, issue=issue, question="Which?")
        deliver_notices()
        mark_read(actor=boss, item=read)
        snooze_item(actor=boss, item=later, until=timezone.now() + datetime.timedelta(hours=1))
        decide_approval(actor=boss, approval=approval, status=ApprovalStatus.REFUSED)
        decide_approval(actor=boss, approval=question, status=ApprovalStatus.ANSWERED, note="This.")
        make_due()
        deliver_notices()
        assert mail.outbox == []
        mention(issue, "Once more, @boss.")
        deliver_notices()
        assert boss.member is not None
        remove_member(actor=owner, member=boss.member)
        make_due()
        deliver_notices()
        assert mail.outbox == []

    def test_a_minute_is_left_to_see_it_on_the_board(self, boss: Person, issue: Issue) -> None:
        item = mention(issue)
        deliver_notices()
        assert mail.outbox == []
        assert Notice.objects.get().due_at == item.created_at + AFTER

    def test_the_past_is_not_sent_where_e_mail_is_set_up_late(self, boss: Person, issue: Issue) -> None:
        mention(issue)
        InboxItem.objects.update(created_at=timezone.now() - OLDEST)
        deliver()
        assert not Notice.objects.exists()

    def test_where_it_is_not_set_up_nothing_is_even_looked_at(
        self, settings: Any, boss: Person, issue: Issue, django_assert_num_queries: Any
    ) -> None:
        settings.NOTICES_BY_MAIL = False
        mention(issue)
        with django_assert_num_queries(0):
            deliver_notices()

    def test_every_kind_of_inbox_item_is_in_one_choice(self) -> None:
        assert sorted(kind for one in NOTICE_KINDS for kind in one.kinds) == sorted(InboxKind)
        assert {name_of_kind(kind) for kind in InboxKind} == {one.name for one in NOTICE_KINDS}

    def test_a_title_with_a_line_s_end_is_one_line(self, company: Company, boss: Person, issue: Issue) -> None:
        InboxItem.objects.create(
            company=company, member=boss.member, kind=InboxKind.MENTION, issue=issue, text="Hi\r\nBcc: evil@x\n" * 30
        )
        deliver()
        [letter] = mail.outbox
        assert "\n" not in letter.subject
        assert letter.recipients() == ["boss@example.org"]


class TestChoosing:
    def test_no_address_and_no_kind_are_told(self, company: Company, owner: Person) -> None:
        for email, names, at in (("nonsense", [], "email"), ("", ["mention"], "email"), ("a@b.org", ["x"], "kinds")):
            with pytest.raises(Invalid) as refusal:
                choose_notices(actor=owner, company=company, email=email, names=names)
            assert refusal.value.facts.get("field", getattr(refusal.value, "field", None)) == at

    def test_an_address_cannot_hold_a_header(self, company: Company, owner: Person) -> None:
        with pytest.raises(Invalid):
            choose_notices(actor=owner, company=company, email="a@b.org\nBcc: c@d.org", names=[])

    def test_it_is_chosen_for_each_company(self, company: Company, boss: Person) -> None:
        other, _ = build.company_with_founder("OTHR")
        with pytest.raises(NotFound):
            choose_notices(actor=boss, company=other, email="a@b.org", names=[])

    def test_a_viewer_chooses_too(self, company: Company) -> None:
        viewer = build.member(company, "eve", role=Role.VIEWER)
        chosen = choose_notices(actor=viewer, company=company, email="eve@example.org", names=["news"])
        assert Member.objects.get(pk=chosen.pk).mailed == ["news"]


class TestOnce:
    def test_two_ticks_at_once_send_one(self, boss: Person, issue: Issue) -> None:
        mention(issue)
        at_once([deliver_notices] * 2)
        make_due()
        at_once([deliver_notices] * 2)
        assert len(mail.outbox) == 1
        assert Notice.objects.get().state == NoticeState.SENT

    def test_nothing_is_held_while_the_server_is_spoken_to(
        self, boss: Person, issue: Issue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = []

        def send(letters: Any) -> Any:
            seen.append((connection.in_atomic_block, connection.connection))
            return original(letters)

        original = notices._send
        monkeypatch.setattr(notices, "_send", send)
        mention(issue)
        deliver()
        assert seen == [(False, None)]

    def test_one_whose_sender_died_is_sent_again_under_the_same_id(self, boss: Person, issue: Issue) -> None:
        mention(issue)
        deliver_notices()
        make_due()
        [claimed] = claim_due()  # and dies
        deliver_notices()
        assert mail.outbox == []
        Notice.objects.update(claimed_at=timezone.now() - LEFT_BEHIND - datetime.timedelta(seconds=1))
        deliver_notices()
        deliver_notices()
        [letter] = mail.outbox
        assert letter.extra_headers["Message-ID"].startswith(f"<notice-{claimed.pk}@")

    def test_more_than_fit_at_once_are_sent_by_the_next_tick(self, boss: Person, issue: Issue) -> None:
        InboxItem.objects.bulk_create(
            InboxItem(company=issue.company, member=boss.member, kind=InboxKind.MENTION, issue=issue, text=str(number))
            for number in range(AT_ONCE + 5)
        )
        for _ in range(3):
            deliver_notices()
            make_due()
        deliver_notices()
        assert len({letter.subject for letter in mail.outbox}) == len(mail.outbox) == AT_ONCE + 5

    def test_the_tick_sends(self, boss: Person, issue: Issue) -> None:
        mention(issue)
        tasks.tick()
        make_due()
        tasks.tick()
        assert len(mail.outbox) == 1


@dataclass
class Post:
    """A mail server. `answers` are what it says to the next letters in place of taking them."""

    port: int = 0
    taken: list[Envelope] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Envelope, address: str, _options: Any) -> str:
        if address.startswith("nobody@"):
            return "550 There is no such box"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Envelope) -> str:
        if self.answers:
            return self.answers.pop(0)
        self.taken.append(envelope)
        return "250 Taken"


class TestARealServer:
    @pytest.fixture
    def post(self, settings: Any) -> Iterator[Post]:
        post = Post()
        post.port = free_port()
        controller = Controller(post, hostname="127.0.0.1", port=post.port)
        controller.start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST = "127.0.0.1"
        settings.EMAIL_PORT = post.port
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        settings.EMAIL_USE_TLS = False
        yield post
        controller.stop()

    def test_it_takes_the_letter(self, post: Post, boss: Person, issue: Issue) -> None:
        mention(issue)
        deliver()
        [envelope] = post.taken
        assert envelope.rcpt_tos == ["boss@example.org"]
        content = envelope.content
        assert isinstance(content, bytes)
        assert b"Auto-Submitted: auto-generated" in content
        assert b"Content-Type: text/plain" in content
        assert Notice.objects.get().state == NoticeState.SENT

    def test_one_box_that_does_not_exist_keeps_nobody_else_from_theirs(
        self, post: Post, company: Company, boss: Person, issue: Issue
    ) -> None:
        gone = build.member(company, "gone")
        choose_notices(actor=gone, company=company, email="nobody@example.org", names=["mention"])
        mention(issue, "@gone and @boss")
        deliver()
        assert [envelope.rcpt_tos for envelope in post.taken] == [["boss@example.org"]]
        failed = Notice.objects.get(item__member=gone.member)
        assert (failed.state, failed.error) == (NoticeState.FAILED, "550 There is no such box")

    def test_what_it_does_not_take_now_is_tried_again_alone(self, post: Post, boss: Person, issue: Issue) -> None:
        post.answers = ["451 Try again later"]
        mention(issue, "First, @boss")
        mention(issue, "Second, @boss")
        deliver()
        assert len(post.taken) == 1
        waiting = Notice.objects.get(state=NoticeState.PENDING)
        assert (waiting.tries, waiting.error) == (1, "451 Try again later")
        make_due()
        deliver_notices()
        assert len(post.taken) == 2

    def test_one_that_shuts_down_gets_the_rest_later(self, post: Post, boss: Person, issue: Issue) -> None:
        post.answers = ["421 Good night"]
        mention(issue, "First, @boss")
        mention(issue, "Second, @boss")
        deliver()
        assert post.taken == []
        assert Notice.objects.filter(state=NoticeState.PENDING).count() == 2
        make_due()
        deliver_notices()
        assert len(post.taken) == 2

    def test_a_dead_server_costs_one_look_a_minute_and_loses_nothing(
        self, post: Post, settings: Any, boss: Person, issue: Issue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.EMAIL_PORT = 9  # nobody listens there
        mention(issue, "First, @boss")
        mention(issue, "Second, @boss")
        deliver_notices()
        Notice.objects.filter(pk=Notice.objects.earliest("pk").pk).update(due_at=timezone.now())
        before = timezone.now()
        deliver_notices()
        assert all(notice.due_at >= before + FIRST_WAIT for notice in Notice.objects.all())
        opened = []
        monkeypatch.setattr(smtplib, "SMTP", lambda *_args, **_more: opened.append(1))
        deliver_notices()
        assert opened == []
        monkeypatch.undo()
        settings.EMAIL_PORT = post.port
        make_due()
        deliver_notices()
        assert len(post.taken) == 2

    def test_after_three_days_it_is_given_up_and_said(
        self, post: Post, settings: Any, boss: Person, issue: Issue
    ) -> None:
        settings.EMAIL_PORT = 9
        mention(issue)
        deliver_notices()
        Notice.objects.update(created_at=timezone.now() - LONGEST - datetime.timedelta(seconds=1))
        make_due()
        deliver_notices()
        notice = Notice.objects.get()
        assert notice.state == NoticeState.FAILED
        assert notice.error.startswith("Given up after 3 days. ")

    def test_a_password_that_is_refused_is_not_shown(
        self, post: Post, settings: Any, boss: Person, issue: Issue
    ) -> None:
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "me", "canary-7f3a"
        mention(issue)
        deliver()
        notice = Notice.objects.get()
        assert notice.state == NoticeState.PENDING
        assert notice.error
        assert "canary" not in notice.error
