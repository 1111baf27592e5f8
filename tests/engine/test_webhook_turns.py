"""Who sends to webhooks, and what that costs those who do the work."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from agents.models import Agent
from engine.webhooks import Couriers
from issues.actors import Person
from issues.models import (
    Company,
    Delivery,
    Issue,
    Webhook,
)
from issues.services.deliveries import TURN, end_turn, next_round, take_turns
from issues.services.webhooks import add_webhook, remove_webhook
from tests import build
from tests.engine.receivers import ALL, Receiver, receiving, send
from tests.engine.running import FakeModel
from tests.engine.test_queries import MOST, count_queries

pytestmark = pytest.mark.django_db(transaction=True)

UNITS = 4
"""Transactions of a heartbeat that write activity: each looks for webhooks once and writes once."""


@pytest.fixture
def issue(company: Company, webhook: Webhook) -> Issue:
    company.refresh_from_db()
    return build.issue(company, "Write the guide")


class TestTurns:
    def test_nothing_of_the_database_is_held_while_a_receiver_is_waited_for(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        seen: list[Any] = []
        sender = threading.get_ident()

        def look() -> None:
            assert threading.get_ident() != sender
            seen.append((connection_of_sender.connection, connection_of_sender.in_atomic_block))

        connection_of_sender = connections["default"]
        receiver.meanwhile = look
        send()
        assert seen == [(None, False)]

    def test_a_slow_receiver_holds_up_nobody_else(
        self, webhook: Webhook, company: Company, owner: Person, receiver: Receiver
    ) -> None:
        goes_on, both = threading.Event(), threading.Event()
        receiver.meanwhile = lambda: goes_on.wait(60)
        with receiving() as other:
            other.meanwhile = both.set
            add_webhook(actor=owner, company=company, url=other.url, kinds=["issue"])
            company.refresh_from_db()
            build.issue(company)
            with ThreadPoolExecutor(2) as threads:
                couriers = Couriers(2, threads, lambda: False)
                couriers.send_due()
                try:
                    assert both.wait(60), "the other receiver waits for the slow one"
                finally:
                    goes_on.set()
        assert other.kinds == ["issue.created"]

    def test_a_webhook_has_one_sender_at_a_time(self, webhook: Webhook, issue: Issue) -> None:
        [mine] = take_turns(8)
        assert take_turns(8) == []
        end_turn(mine)
        [again] = take_turns(8)
        assert again.pk == mine.pk
        assert next_round(mine) == []  # its turn is over

    def test_who_died_with_its_turn_is_followed_by_another(
        self, webhook: Webhook, issue: Issue, receiver: Receiver
    ) -> None:
        take_turns(8)
        send()
        assert receiver.got == []
        Webhook.objects.update(turn_until=timezone.now() - TURN)
        send()
        assert receiver.kinds == ["issue.created"]

    def test_a_process_that_ends_begins_no_round(self, webhook: Webhook, issue: Issue, receiver: Receiver) -> None:
        send(is_ending=True)
        assert receiver.got == []
        send()
        assert receiver.kinds == ["issue.created"]

    def test_a_webhook_that_is_removed_meanwhile_is_no_trouble(
        self, webhook: Webhook, issue: Issue, owner: Person, receiver: Receiver
    ) -> None:
        def remove() -> None:
            remove_webhook(actor=owner, webhook=webhook)
            connections.close_all()

        receiver.meanwhile = remove
        send()
        assert not Delivery.objects.exists()


@pytest.mark.usefixtures("one_connection")
class TestWhatItCosts:
    def test_a_heartbeat_that_webhooks_are_told_of_stays_within_its_bound(
        self, company: Company, owner: Person, ada: Agent, model: FakeModel
    ) -> None:
        model.answers = ["What I did is written here.\n\n/status done"]
        build.issue(company, assignee=ada)
        count_queries()
        build.issue(company, assignee=ada)
        without = count_queries()
        assert not [one for one in without if "issues_webhook" in one or "issues_delivery" in one]
        for number in range(3):
            add_webhook(actor=owner, company=company, url=f"http://127.0.0.1:9/{number}", kinds=ALL)
        company.refresh_from_db()
        build.issue(company, assignee=ada)
        before = Delivery.objects.count()
        told = count_queries()
        assert Delivery.objects.count() - before >= 3 * 4
        assert len(told) <= min(MOST, len(without) + 2 * UNITS), "\n".join(statement[:120] for statement in told)
