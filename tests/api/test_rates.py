"""How often a key or a session may call."""

from __future__ import annotations

import threading

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from issues.actors import Person
from issues.models import Company
from issues.rest import rates
from issues.rest.rates import ADMITTED, SECONDS_AT_ONCE, Rates
from tests.api.client import Api, as_person


class Clock:
    """A clock that stands until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def two_at_once(clock: Clock, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two calls at once, then one in five seconds."""
    settings.API_CALLS_PER_SECOND = 2 / SECONDS_AT_ONCE
    monkeypatch.setattr(rates, "rates", Rates(clock))


def test_many_calls_at_once_are_free_then_each_waits_and_nobody_waits_for_another(clock: Clock) -> None:
    counted = Rates(clock)
    taken = [counted.take("ada", per_second=4) for _ in range(4 * SECONDS_AT_ONCE)]
    assert set(taken) == {0.0}
    assert counted.take("ada", per_second=4) == 0.25
    assert counted.take("bob", per_second=4) == 0.0
    clock.now += 0.25
    assert counted.take("ada", per_second=4) == 0.0
    assert counted.take("ada", per_second=4) > 0.0


def test_a_part_of_a_call_is_taken_in_advance(clock: Clock) -> None:
    counted = Rates(clock)
    for _ in range(10 + 3):
        assert counted.take("ada", per_second=1, must=True) == 0.0
    assert counted.take("ada", per_second=1) == 4.0


def test_who_has_all_calls_again_is_forgotten_and_who_has_not_is_kept(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "MOST_KEPT", 3)
    counted = Rates(clock)
    for who in ("ada", "bob", "eve"):
        counted.take(who, per_second=1)
    for _ in range(8):
        counted.take("eve", per_second=1, must=True)
    clock.now += 2
    counted.take("mia", per_second=1)
    assert set(counted._kept) == {"eve", "mia"}


def test_of_many_threads_none_takes_what_is_not_there(clock: Clock) -> None:
    counted, free = Rates(clock), []

    def call() -> None:
        free.extend(counted.take("ada", per_second=5) for _ in range(20))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert free.count(0.0) == 5 * SECONDS_AT_ONCE


def test_a_key_that_calls_too_often_is_told_how_long_to_wait(
    clock: Clock, two_at_once: None, api: Api, founder: Person
) -> None:
    answers = [api.get("me") for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert answers[2]["type"] == "urn:trimus:problem:too-many-requests"
    assert answers[2].headers["Retry-After"] == "5"
    assert as_person(founder).get("me").status == 200  # another key
    clock.now += 5
    assert api.get("me").status == 200


def test_a_refused_call_has_done_nothing(two_at_once: None, api: Api, company: Company) -> None:
    titles = ["One", "Two", "Three"]
    assert [api.post("issues", {"title": title}).status for title in titles] == [201, 201, 429]
    assert company.issues.count() == 2


def test_the_sessions_of_a_person_count_together_and_pages_are_no_calls(
    two_at_once: None, company: Company, founder: Person
) -> None:
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(founder.user)
    answers = [browser.get("/api/me").status_code for browser in browsers * 2]
    assert answers == [200, 200, 429, 429]
    assert [browsers[0].get(f"/{company.slug}/board/").status_code for _ in range(3)] == [200] * 3


def test_a_header_does_not_pass_for_a_part_of_a_call(two_at_once: None, api: Api) -> None:
    forged = [api.client.get("/api/me", headers={ADMITTED: "1", "asgi.scope": ADMITTED}) for _ in range(3)]
    assert [answer.status_code for answer in forged] == [200, 200, 429]


def test_health_is_no_ones_call(two_at_once: None, db: None) -> None:
    assert [Api().get("health").status for _ in range(4)] == [200] * 4
