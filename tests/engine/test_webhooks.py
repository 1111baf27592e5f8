"""Webhooks out: what changes is told to whoever is to be told of it, signed, until they took it, and to nobody else."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import threading
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from agents.models import Agent, Pulse
from agents.services.spending import set_budget
from engine import posting
from engine.backups.quieting import quiet_down
from engine.claim import claim_next
from engine.clock import follow_clock
from engine.heartbeat import heartbeat
from engine.retention import drop_old_texts
from issues import outbox
from issues.activity import record
from issues.actors import SYSTEM, Person
from issues.effects import quietly, savepoint, unit
from issues.models import (
    Activity,
    ApprovalStatus,
    Company,
    Delivery,
    DeliveryState,
    InboxItem,
    Issue,
    Priority,
    Status,
    Webhook,
)
from issues.outbox import new_delivery
from issues.refusals import Conflict
from issues.services.approvals import decide_approval
from issues.services.blockers import add_blockers
from issues.services.deliveries import FIRST_WAIT, LONGEST
from issues.services.issues import assign_issue, delete_issue, set_parent, set_priority, set_status
from issues.services.reviews import set_reviewers
from issues.services.transitions import enter_status
from issues.services.undo import undo
from issues.services.webhooks import add_webhook, edit_webhook, rotate_secret, send_test, switch_webhook
from issues.tidying import forget_what_is_over
from issues.traces import traced
from tests import build
from tests.engine.receivers import ALL, Receiver, make_due, receiving, send

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def issue(company: Company, webhook: Webhook) -> Issue:
    company.refresh_from_db()
    return build.issue(company, "Write the guide")


def last(kind: str) -> Delivery:
    return Delivery.objects.filter(kind=kind).latest("pk")


class TestWhatIsTold:
    def test_a_change_is_told_with_who_what_and_where(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        set_status(actor=owner, issue=issue, status=Status.IN_PROGRESS)
        send()
        assert receiver.kinds == ["issue.created", "issue.status"]
        line = Activity.objects.get(kind="issue.status")
        told = receiver.told("issue.status")
        assert told["timestamp"] == line.created_at.isoformat().replace("+00:00", "Z")
        assert told["data"] == {
            "version": 1,
            "company": {"key": "ACME", "url": "http://127.0.0.1:8000/acme/"},
            "activity": line.pk,
            "actor": {"kind": "member", "handle": "acme-founder", "name": "Acme-founder"},
            "issue": {"identifier": "ACME-1", "url": "http://127.0.0.1:8000/acme/issues/ACME-1/"},
            "comment": None,
            "approval": None,
            "run": None,
            "change": {"from": "todo", "to": "in_progress"},
        }

    def test_each_kind_comes_where_it_is_asked_for_and_nowhere_else(
        self, company: Company, owner: Person, ada: Agent, receiver: Receiver
    ) -> None:
        hooks = {
            kind: add_webhook(actor=owner, company=company, url=f"{receiver.url}/{kind}", kinds=[kind])[0]
            for kind in ALL
        }
        company.refresh_from_db()
        issue = build.issue(company, assignee=ada)
        build.comment(issue, "Look.")
        run = claim_next()
        assert run is not None
        heartbeat(run)
        approval = build.approval(issue, actor=build.at_work(build.agent(company, "Eve", adapter="external"), issue))
        decide_approval(actor=owner, approval=approval, status=ApprovalStatus.APPROVED)
        set_budget(actor=owner, company=company, tokens=1_000)
        for kind, hook in hooks.items():
            told = set(hook.deliveries.values_list("kind", flat=True))
            assert told, kind
            assert {one.partition(".")[0] for one in told} == {kind}

    def test_texts_stay_here(self, webhook: Webhook, company: Company, owner: Person, receiver: Receiver) -> None:
        company.refresh_from_db()
        issue = build.issue(company, "canary title", description="canary description")
        build.comment(issue, "canary comment")
        build.approval(issue, "canary approval", actor=owner)
        send()
        assert len(receiver.got) >= 3
        assert all(b"canary" not in got.body for got in receiver.got)

    def test_what_it_refers_to_is_named_as_the_api_names_it(
        self, webhook: Webhook, issue: Issue, owner: Person, ada: Agent, receiver: Receiver
    ) -> None:
        other = build.issue(issue.company, "Other")
        assign_issue(actor=owner, issue=issue, assignee=ada)
        set_parent(actor=owner, issue=issue, parent=other)
        add_blockers(actor=owner, issue=other, blockers=[build.issue(issue.company)])
        comment = build.comment(issue, "Look.")
        send()
        changes = {got.told["type"]: got.told["data"]["change"] for got in receiver.got}
        assert changes["issue.assigned"] == {"from": None, "to": {"kind": "agent", "handle": "ada", "name": "Ada"}}
        assert changes["issue.parent"] == {"from": None, "to": "ACME-2"}
        assert changes["issue.blockers"] == {"added": ["ACME-3"], "removed": []}
        said = receiver.told("comment.written")["data"]["comment"]
        assert said["id"] == comment.pk
        assert said["url"].endswith(f"/issues/ACME-1/?comment={comment.pk}#comment-{comment.pk}")

    def test_people_and_agents_are_named_by_their_handles(
        self, webhook: Webhook, company: Company, issue: Issue, owner: Person, ada: Agent, receiver: Receiver
    ) -> None:
        set_reviewers(actor=owner, issue=issue, reviewers=[ada, build.member_row(owner)])
        set_budget(actor=owner, company=company, agent=ada, tokens=1_000)
        named = {"kind": "agent", "handle": "ada", "name": "Ada"}
        with unit():
            enter_status(issue, Status.BLOCKED, SYSTEM, stalled=ada.pk)
        send()
        changes = {got.told["type"]: got.told["data"]["change"] for got in receiver.got}
        assert changes["issue.reviewers"] == {
            "members": [{"kind": "member", "handle": "acme-founder", "name": "Acme-founder"}],
            "agents": [named],
        }
        assert changes["budget.set"]["agent"] == named
        assert changes["issue.status"]["stalled"] == named

    def test_a_budget_of_the_company_names_nobody(
        self, webhook: Webhook, company: Company, owner: Person, receiver: Receiver
    ) -> None:
        company.refresh_from_db()
        set_budget(actor=owner, company=company, tokens=1_000)
        send()
        assert receiver.told("budget.set")["data"]["change"]["agent"] is None

    def test_an_assignment_that_is_taken_back_is_told(
        self, webhook: Webhook, company: Company, issue: Issue, owner: Person, ada: Agent, receiver: Receiver
    ) -> None:
        with traced() as trace:
            assign_issue(actor=owner, issue=issue, assignee=ada)
        done = Activity.objects.get(kind="issue.assigned")
        undo(actor=owner, company=company, trace=trace.taken())
        send()
        changes = {got.told["data"]["activity"]: got.told["data"]["change"] for got in receiver.got}
        undone = Activity.objects.filter(kind="issue.assigned").latest("pk")
        assert changes[undone.pk] == {
            "from": {"kind": "agent", "handle": "ada", "name": "Ada"}, "to": None, "undone": done.pk,
        }  # fmt: skip

    def test_a_message_that_cannot_be_written_holds_up_no_other(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        with unit():
            record(owner, "issue.parent", issue, **{"from": None, "to": {"not": "an id"}})
        build.comment(issue, "Look.")
        send()
        assert receiver.kinds == ["comment.written", "issue.created"]
        broken = last("issue.parent")
        assert (broken.state, broken.tries, broken.ended_at is None) == (DeliveryState.FAILED, 0, False)
        assert "its log says why" in broken.error

    def test_of_an_issue_that_is_gone_its_identifier_is_told(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        delete_issue(actor=owner, issue=issue)
        send()
        assert receiver.kinds == ["issue.created", "issue.deleted"]
        assert receiver.told("issue.created")["data"]["issue"] is None
        assert receiver.told("issue.deleted")["data"]["issue"] == {"identifier": "ACME-1"}

    def test_another_company_is_told_nothing(self, webhook: Webhook, receiver: Receiver) -> None:
        other, _ = build.company_with_founder("OTHR")
        build.issue(other, "Elsewhere")
        send()
        assert receiver.got == []
        assert not Delivery.objects.exists()

    def test_what_was_undone_is_not_told(self, webhook: Webhook, issue: Issue, owner: Person) -> None:
        def change_and_fail() -> None:
            set_priority(actor=owner, issue=issue, priority=Priority.HIGH)
            raise Conflict("No.")

        before = Delivery.objects.count()
        with unit():
            with pytest.raises(Conflict), savepoint():
                change_and_fail()
            set_status(actor=owner, issue=issue, status=Status.BACKLOG)
        with pytest.raises(Conflict), unit():
            change_and_fail()
        assert [one.kind for one in Delivery.objects.order_by("pk")[before:]] == ["issue.status"]

    def test_a_webhook_that_is_removed_at_that_moment_undoes_nothing(
        self, webhook: Webhook, issue: Issue, owner: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def removed_meanwhile(*told: Any) -> Delivery:
            Webhook.objects.all().delete()
            return new_delivery(*told)

        monkeypatch.setattr(outbox, "new_delivery", removed_meanwhile)
        set_status(actor=owner, issue=issue, status=Status.IN_PROGRESS)
        assert Issue.objects.get(pk=issue.pk).status == Status.IN_PROGRESS
        send()
        assert Delivery.objects.count() == 1
        forget_what_is_over()
        assert not Delivery.objects.exists()

    def test_what_happened_elsewhere_is_not_told(self, webhook: Webhook, company: Company) -> None:
        company.refresh_from_db()
        with quietly(telling=False):
            build.issue(company)
        assert not Delivery.objects.exists()


class TestHowItIsSigned:
    def test_the_secret_proves_the_message(self, company: Company, owner: Person, receiver: Receiver) -> None:
        webhook, secret = add_webhook(actor=owner, company=company, url=receiver.url, kinds=ALL)
        send_test(actor=owner, webhook=webhook)
        send()
        [got] = receiver.got
        assert got.headers["webhook-signature"] == expected(secret, got)
        assert abs(int(got.headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
        assert got.headers["content-type"] == "application/json"
        assert secret not in str(Webhook.objects.values().get())

    def test_for_a_day_after_a_rotation_both_secrets_do(
        self, company: Company, owner: Person, receiver: Receiver
    ) -> None:
        webhook, old = add_webhook(actor=owner, company=company, url=receiver.url, kinds=ALL)
        webhook, new = rotate_secret(actor=owner, webhook=webhook)
        send_test(actor=owner, webhook=webhook)
        send()
        assert (
            receiver.got[0].headers["webhook-signature"]
            == f"{expected(new, receiver.got[0])} {expected(old, receiver.got[0])}"
        )
        Webhook.objects.update(old_secret_until=timezone.now())
        send_test(actor=owner, webhook=webhook)
        send()
        assert receiver.got[1].headers["webhook-signature"] == expected(new, receiver.got[1])


def expected(secret: str, got: Any) -> str:
    """As a receiver would reckon it, from the convention's own words."""
    signed = b".".join([got.uid.encode(), got.headers["webhook-timestamp"].encode(), got.body])
    key = base64.b64decode(secret.partition("_")[2])
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


class TestUntilItIsTaken:
    def test_what_was_not_taken_comes_again_the_same(self, webhook: Webhook, issue: Issue, receiver: Receiver) -> None:
        receiver.answer(500)
        send()
        delivery = last("issue.created")
        assert (delivery.state, delivery.tries, delivery.status_code) == (DeliveryState.PENDING, 1, 500)
        assert delivery.error == "500 Internal Server Error"
        assert delivery.milliseconds is not None
        send()
        assert len(receiver.got) == 1  # not before it is due
        make_due()
        receiver.answer(200)
        send()
        delivery.refresh_from_db()
        assert (delivery.state, delivery.tries, delivery.error) == (DeliveryState.DELIVERED, 2, "")
        assert receiver.got[0].uid == receiver.got[1].uid == delivery.uid
        assert receiver.got[0].body == receiver.got[1].body
        send()
        assert len(receiver.got) == 2

    def test_it_waits_longer_each_time(self, webhook: Webhook, issue: Issue, receiver: Receiver) -> None:
        receiver.answer(500)
        waits = []
        for _ in range(12):
            make_due()
            send()
            delivery = last("issue.created")
            assert delivery.tried_at is not None
            waits.append((delivery.due_at - delivery.tried_at).total_seconds())
        assert waits[:3] == [10, 20, 40]
        assert waits[-1] == 3_600

    def test_as_long_as_its_receiver_asks_for(self, webhook: Webhook, issue: Issue, receiver: Receiver) -> None:
        receiver.answer(503, Retry_After="120")
        send()
        webhook.refresh_from_db()
        delivery = last("issue.created")
        assert delivery.tried_at is not None
        assert webhook.held_until == delivery.due_at == delivery.tried_at + datetime.timedelta(seconds=120)

    def test_while_it_fails_it_is_tried_with_one_message(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        for number in range(6):
            build.comment(issue, f"{number}")
        receiver.answer(500)
        send()
        first = len(receiver.got)
        assert 1 < first < 7
        make_due()
        send()
        assert len(receiver.got) == first + 1
        receiver.answer(200)
        make_due()
        send()
        assert not Delivery.objects.filter(state=DeliveryState.PENDING).exists()

    def test_one_message_that_is_not_taken_holds_up_no_other(
        self, webhook: Webhook, issue: Issue, receiver: Receiver
    ) -> None:
        build.comment(issue, "Look.")
        receiver.answers = [(422, {}), (200, {})]
        send()
        states = Delivery.objects.values_list("state", flat=True)
        assert sorted(states) == [DeliveryState.DELIVERED, DeliveryState.PENDING]

    def test_after_a_day_it_is_turned_off_and_the_owners_are_told(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        build.member(issue.company, "looker")
        receiver.answer(500)
        send()
        long_ago = timezone.now() - LONGEST - FIRST_WAIT
        Webhook.objects.update(failing_since=long_ago)
        Delivery.objects.update(created_at=long_ago)
        make_due()
        waiting = build.comment(issue, "Look.")
        Delivery.objects.filter(kind="comment.written").update(due_at=timezone.now() + LONGEST)
        send()
        webhook.refresh_from_db()
        assert not webhook.enabled
        assert webhook.why_off == "It has failed for a day. Last: 500 Internal Server Error"
        assert last("issue.created").state == DeliveryState.FAILED
        assert last("comment.written").state == DeliveryState.DROPPED
        [item] = InboxItem.objects.filter(text__contains="webhook")
        assert item.member == build.member_row(owner)
        assert Activity.objects.filter(kind="webhook.switched", actor_kind="system").count() == 1
        build.comment(waiting.issue, "Nobody is told of this.")
        assert Delivery.objects.count() == 2

    def test_who_answers_410_is_left_alone_at_once(self, webhook: Webhook, issue: Issue, receiver: Receiver) -> None:
        receiver.answer(410)
        send()
        webhook.refresh_from_db()
        assert not webhook.enabled
        assert "410" in webhook.why_off

    def test_who_answers_410_to_one_of_several_is_left_alone_too(
        self, webhook: Webhook, issue: Issue, receiver: Receiver
    ) -> None:
        build.comment(issue, "Look.")
        receiver.answers = [(410, {}), (200, {})]
        send()
        webhook.refresh_from_db()
        assert not webhook.enabled
        assert "410" in webhook.why_off

    def test_what_a_race_left_to_one_that_was_off_is_not_sent(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        switch_webhook(actor=owner, webhook=webhook, on=False)
        left = new_delivery(webhook, "issue.created", Activity.objects.get(kind="issue.created"))
        left.save(force_insert=True)
        switch_webhook(actor=owner, webhook=webhook, on=True)
        send()
        left.refresh_from_db()
        assert (receiver.got, left.state) == ([], DeliveryState.DROPPED)

    def test_what_waits_for_one_that_is_turned_off_is_not_sent(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        switch_webhook(actor=owner, webhook=webhook, on=False)
        build.comment(issue, "Look.")
        send()
        switch_webhook(actor=owner, webhook=webhook, on=True)
        send()
        assert receiver.got == []
        build.comment(Issue.objects.get(pk=issue.pk), "And now?")
        send()
        assert receiver.kinds == ["comment.written"]

    def test_a_new_address_gets_what_waits(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        receiver.answer(500)
        send()
        receiver.answer(200)
        edit_webhook(actor=owner, webhook=webhook, url=f"{receiver.url}/new")
        send()
        assert [got.path for got in receiver.got] == ["/in", "/in/new"]

    def test_a_clock_that_is_set_back_adds_nothing_to_its_wait(
        self, webhook: Webhook, issue: Issue, receiver: Receiver
    ) -> None:
        receiver.answer(500)
        send()
        hour = datetime.timedelta(hours=1)
        Webhook.objects.update(held_until=F("held_until") + hour)
        Delivery.objects.update(due_at=F("due_at") + hour)
        Pulse.objects.create(name="tick", felt_at=timezone.now() + hour)
        follow_clock()
        soon = timezone.now() + FIRST_WAIT
        assert Webhook.objects.filter(held_until__lte=soon).exists()
        assert Delivery.objects.filter(due_at__lte=soon).exists()

    def test_a_restored_installation_sends_nothing_that_waited(
        self, webhook: Webhook, issue: Issue, receiver: Receiver
    ) -> None:
        quiet_down()
        send()
        assert receiver.got == []
        assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.DROPPED}

    def test_old_messages_are_forgotten_with_the_texts_of_old_runs(
        self, webhook: Webhook, issue: Issue, receiver: Receiver
    ) -> None:
        send()
        build.comment(issue, "Look.")
        Delivery.objects.filter(kind="issue.created").update(ended_at=timezone.now() - datetime.timedelta(days=91))
        drop_old_texts()
        assert [one.kind for one in Delivery.objects.all()] == ["comment.written"]


class TestWhereItLeads:
    def test_redirects_are_not_followed(self, webhook: Webhook, issue: Issue, receiver: Receiver) -> None:
        receiver.answer(302, Location=f"{receiver.url}/elsewhere")
        send()
        assert [got.path for got in receiver.got] == ["/in"]
        assert last("issue.created").error == "302: redirects are not followed."

    def test_a_name_that_leads_into_the_servers_network_is_not_called(
        self, webhook: Webhook, issue: Issue, receiver: Receiver, settings: Any
    ) -> None:
        settings.PRIVATE_WEBHOOK_URLS = False
        Webhook.objects.update(url=receiver.url.replace("127.0.0.1", "localhost"))
        send()
        assert receiver.got == []
        delivery = last("issue.created")
        assert (delivery.state, delivery.status_code) == (DeliveryState.PENDING, None)
        assert delivery.error == "The address leads into the network of this server."

    def test_a_server_that_is_not_there_costs_a_wait(self, webhook: Webhook, issue: Issue, receiver: Receiver) -> None:
        with receiving() as gone:
            Webhook.objects.update(url=gone.url)
        send()
        webhook.refresh_from_db()
        assert (webhook.failures, last("issue.created").status_code) == (1, None)
        assert last("issue.created").error

    def test_one_that_does_not_answer_is_waited_for_no_longer_than_it_may(
        self, webhook: Webhook, issue: Issue, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(posting, "TOTAL_SECONDS", 0.05)
        goes_on = threading.Event()
        receiver.meanwhile = lambda: goes_on.wait(60)
        try:
            send()
        finally:
            goes_on.set()
        assert last("issue.created").error == "No answer within 0 s."
