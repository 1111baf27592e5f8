"""A company with an agent, the model that it asks, and leases that are looked at quickly."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from agents.adapters import registry
from agents.models import Agent, Run
from engine import leases
from engine.claim import claim_next
from issues.actors import Person
from issues.models import Company, Issue, Webhook
from issues.services.webhooks import add_webhook
from tests import build
from tests.engine.receivers import ALL, Receiver, receiving
from tests.engine.running import FakeModel


@pytest.fixture(autouse=True)
def quick_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often: the thread that holds leases ends soon after the last run of a test."""
    monkeypatch.setattr(leases, "LOOK_SECONDS", 0.05)


@pytest.fixture
def one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep it over the turns: what is asked is seen where the connection stays the same. Other threads give theirs
    back."""
    here, close_all = threading.current_thread(), connections.close_all
    monkeypatch.setattr(connections, "close_all", lambda: threading.current_thread() is here or close_all())


@pytest.fixture
def company() -> Company:
    return build.company_with_founder()[0]


@pytest.fixture
def owner(company: Company) -> Person:
    return build.owner_of(company)


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", provider="scripted", script="- reply: Noted.")


@pytest.fixture
def bob(company: Company) -> Agent:
    return build.agent(company, "Bob", provider="scripted", script="- reply: Noted.")


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    """Ada's, on which she has been woken."""
    return build.issue(company, assignee=ada)


@pytest.fixture
def run(issue: Issue) -> Run:
    """A claimed run of Ada's, with nobody at work on it."""
    run = claim_next()
    assert run is not None
    return run


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    """The model that scripted agents ask instead of their script."""
    fake = FakeModel()
    monkeypatch.setattr(registry, "PROVIDERS", (fake.spec,))
    return fake


@pytest.fixture
def to_this_machine(settings: Any) -> None:
    settings.PRIVATE_WEBHOOK_URLS = True


@pytest.fixture
def receiver(to_this_machine: None) -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@pytest.fixture
def webhook(company: Company, owner: Person, receiver: Receiver) -> Webhook:
    """Tells the receiver of everything."""
    return add_webhook(actor=owner, company=company, url=receiver.url, kinds=ALL)[0]
