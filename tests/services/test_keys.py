"""API keys: shown once, kept as a hash, and dead with whoever they act for."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from agents.models import Agent
from agents.services.agents import pause_agent, resume_agent, terminate_agent
from agents.services.runs import cancel_run, release
from issues.actors import SYSTEM, Person
from issues.models import Activity, ApiKey, Company, Issue
from issues.refusals import Forbidden
from issues.services.keys import create_agent_key, create_run_key, create_user_key, find_key, revoke_key
from tests import build

pytestmark = pytest.mark.django_db


def test_only_a_hash_is_kept(owner: Person, ada: Agent) -> None:
    key, text = create_agent_key(actor=owner, agent=ada, name="Laptop")
    row = ApiKey.objects.filter(pk=key.pk).values().get()
    assert row["key_hash"] == hashlib.sha256(text.encode()).hexdigest()
    assert text not in str(row)
    secret = text.removeprefix(f"trm_{key.prefix}")
    assert len(bytes.fromhex(secret)) * 8 >= 128, "random bits beside the prefix"


def test_no_two_keys_are_alike(owner: Person) -> None:
    texts = {create_user_key(actor=owner, user=owner.user)[1] for _ in range(20)}
    assert len(texts) == 20


@pytest.mark.parametrize("change", ["", "x", "shorter", "other scheme", "other secret", "upper"])
def test_only_the_whole_key_is_found(change: str, owner: Person) -> None:
    key, text = create_user_key(actor=owner, user=owner.user)
    assert find_key(text) == key
    wrong = {
        "": "",
        "x": text + "x",
        "shorter": text[:-1],
        "other scheme": text.removeprefix("trm_"),
        "other secret": text[:-1] + ("0" if text[-1] != "0" else "1"),
        "upper": text.upper(),
    }
    assert find_key(wrong[change]) is None


@pytest.mark.parametrize("text", ["trm_", "trm_\x00", "trm_ü" * 9, "trm_" + "0" * 1_000_000, "trm_" + "\ud800" * 48])
def test_whatever_is_sent_as_a_key_is_only_not_found(text: str) -> None:
    assert find_key(text) is None


def test_a_key_ends_when_it_expires(owner: Person) -> None:
    with time_machine.travel("2026-05-01 12:00Z", tick=False) as clock:
        _, text = create_user_key(actor=owner, user=owner.user, expires_at=timezone.now() + timedelta(hours=1))
        clock.shift(3_599)
        assert find_key(text) is not None
        clock.shift(1)
        assert find_key(text) is None


def test_a_revoked_key_is_dead_and_stays_so(owner: Person, ada: Agent) -> None:
    key, text = create_agent_key(actor=owner, agent=ada)
    for _ in range(2):
        key = revoke_key(actor=owner, key=key)
    assert find_key(text) is None
    assert Activity.objects.filter(kind="key.revoked").count() == 1


def test_a_runs_key_dies_with_the_run(company: Company, owner: Person, ada: Agent) -> None:
    for end in (
        lambda worker: cancel_run(actor=owner, run=worker.run),
        lambda worker: release(actor=worker, issue=worker.home),
    ):
        worker = build.at_work(ada, build.issue(company))
        assert worker.run is not None
        key, text = create_run_key(run=worker.run, expires_at=timezone.now() + timedelta(hours=1))
        found = find_key(text)
        assert found == key
        assert (found.agent, found.run, found.company) == (ada, worker.run, company)
        end(worker)
        assert find_key(text) is None


def test_the_keys_of_a_terminated_agent_are_dead_and_of_a_paused_one_not(owner: Person, ada: Agent) -> None:
    _, text = create_agent_key(actor=owner, agent=ada)
    pause_agent(actor=owner, agent=ada)
    assert find_key(text) is not None
    terminate_agent(actor=owner, agent=ada)
    assert find_key(text) is None
    resume_agent(actor=owner, agent=ada)
    assert find_key(text) is not None


def test_the_keys_of_an_account_that_is_shut_are_dead(owner: Person) -> None:
    _, text = create_user_key(actor=owner, user=owner.user)
    owner.user.is_active = False
    owner.user.save()
    assert find_key(text) is None


def test_people_make_and_revoke_keys_for_themselves_only(company: Company, owner: Person, issue: Issue) -> None:
    boss = build.member(company, "boss")
    key, _ = create_user_key(actor=boss, user=boss.user)
    for actor in (owner, SYSTEM):
        with pytest.raises(Forbidden, match="by that person"):
            create_user_key(actor=actor, user=boss.user)
        with pytest.raises(Forbidden, match="by that person"):
            revoke_key(actor=actor, key=key)
    assert revoke_key(actor=boss, key=key).revoked_at is not None


def test_the_last_use_is_kept_to_the_minute(owner: Person, django_assert_num_queries: object) -> None:
    with time_machine.travel("2026-05-01 12:00Z", tick=False) as clock:
        key, text = create_user_key(actor=owner, user=owner.user)
        find_key(text)
        clock.shift(30)
        with django_assert_num_queries(1):  # type: ignore[operator]
            find_key(text)
        key.refresh_from_db()
        first = key.last_used_at
        assert first is not None
        clock.shift(31)
        find_key(text)
        key.refresh_from_db()
        assert key.last_used_at == first + timedelta(seconds=61)
