"""What monitors read: whether the work goes on, and the figures for Prometheus."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from agents.models import Agent, Breaker, Pulse, Run, RunState, Wakeup
from agents.services.agents import pause_agent
from agents.services.spending import Cost, settle
from engine.sweep import show_life
from engine.vitals import read_vitals
from issues.actors import Person
from issues.effects import unit
from issues.models import Company
from tests import build
from trimus import health

TOKEN = "a-token-of-some-length"

BEAT_SECONDS = 40
"""Since a sign of life that has just been given: a busy machine takes a while to look."""


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Sets whether the broker answers; it does."""

    def answers(well: bool) -> None:
        monkeypatch.setattr(health, "_broker_seen", None)
        monkeypatch.setattr(health, "_connects", lambda: well)

    answers(True)
    return answers


def work_health() -> tuple[int, dict[str, Any]]:
    answer = Client().get("/health")
    return answer.status_code, answer.json()


def figures(client: Client) -> dict[str, float]:
    """Each figure by its name with the value of its label."""
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {
        " ".join([sample.name, *sample.labels.values()]): sample.value for one in families for sample in one.samples
    }


@pytest.mark.django_db
class TestWorkHealth:
    def test_work_that_goes_on_is_told_to_anybody(self) -> None:
        show_life()
        status, told = work_health()
        assert (status, told["status"], told["broker"], told["database"]) == (200, "ok", "ok", "ok")
        assert 0 <= told["beat_seconds"] < BEAT_SECONDS
        assert told["oldest_due_seconds"] is None

    def test_without_a_beat_it_ails(self) -> None:
        assert work_health()[0] == 503
        Pulse.objects.create(name="tick", felt_at=timezone.now() - datetime.timedelta(seconds=50))
        status, told = work_health()
        assert (status, told["status"], round(told["beat_seconds"])) == (503, "ailing", 50)

    def test_without_a_broker_it_ails(self, broker: Callable[[bool], None]) -> None:
        show_life()
        broker(False)
        status, told = work_health()
        assert (status, told["broker"]) == (503, "away")

    def test_with_work_that_nobody_takes_it_ails(self, company: Company, ada: Agent) -> None:
        show_life()
        build.issue(company, assignee=ada)
        assert work_health()[0] == 200
        Wakeup.objects.update(due_at=timezone.now() - datetime.timedelta(minutes=3))
        status, told = work_health()
        assert (status, round(told["oldest_due_seconds"])) == (503, 180)

    def test_what_waits_for_an_agent_that_is_at_work_is_not_due(
        self, company: Company, ada: Agent, founder: Person
    ) -> None:
        """However long its run takes: nobody is late."""
        show_life()
        build.issue(company, assignee=ada)
        Wakeup.objects.update(due_at=timezone.now() - datetime.timedelta(minutes=3))
        build.at_work(ada, build.issue(company))
        assert (read_vitals().due, work_health()[0]) == (0, 200)

    def test_what_waits_for_a_person_is_not_due(self, company: Company, ada: Agent, founder: Person) -> None:
        build.issue(company, assignee=ada)
        pause_agent(actor=founder, agent=ada)
        vitals = read_vitals()
        assert (vitals.due, vitals.pending, vitals.oldest_due_seconds) == (0, 1, None)

    def test_the_broker_is_not_asked_each_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[int] = []

        def connects() -> bool:
            asked.append(1)
            return True

        monkeypatch.setattr(health, "_connects", connects)
        for _ in range(3):
            work_health()
        assert len(asked) == 1


@pytest.mark.django_db
class TestMetrics:
    def test_there_are_none_until_a_token_is_set(self) -> None:
        assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404

    @pytest.mark.parametrize("sent", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"])
    def test_without_the_token_nothing_is_told(self, settings: Settings, sent: str) -> None:
        settings.METRICS_TOKEN = TOKEN
        answer = Client().get("/metrics", headers={"Authorization": sent})
        assert (answer.status_code, answer.content) == (401, b"")

    def test_they_tell_of_wakeups_and_runs_and_money(
        self, settings: Settings, company: Company, ada: Agent, founder: Person
    ) -> None:
        settings.METRICS_TOKEN = TOKEN
        show_life()
        for _ in range(2):
            build.issue(company, assignee=ada)
        issue = build.issue(company)
        run = build.at_work(build.agent(company, "Bob"), issue).run
        assert run is not None
        with unit():
            settle(run, Cost(1_000, 2_500_000))
        _ended(run, RunState.SUCCEEDED, seconds=8)
        _ended(run, RunState.LOST, seconds=3)
        _ended(run, RunState.FAILED, seconds=3, ago=datetime.timedelta(hours=2))
        now = timezone.now()
        for key, minutes in (("a", 5), ("b", 5), ("c", -5)):
            until = now + datetime.timedelta(minutes=minutes)
            Breaker.objects.create(key=key, provider="openai", host="api", failed_at=now, open_until=until)
        told = figures(Client())
        expected = {
            "trimus_breakers_open openai": 2,
            "trimus_wakeups_due": 2,
            "trimus_wakeups_pending": 2,
            "trimus_runs_live": 1,
            "trimus_runs_ended succeeded": 1,
            "trimus_runs_ended lost": 1,
            "trimus_runs_ended failed": 0,
            "trimus_run_seconds 0.5": 8,
            "trimus_month_runs ACME": 1,
            "trimus_month_tokens ACME": 1_000,
            "trimus_month_dollars ACME": 2.5,
        }
        assert {name: told[name] for name in expected} == expected
        assert told["trimus_beat_seconds"] < BEAT_SECONDS

    def test_they_cost_a_fixed_number_of_queries(
        self, settings: Settings, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        settings.METRICS_TOKEN = TOKEN
        with django_assert_max_num_queries(9):
            figures(Client())


def _ended(like: Run, state: RunState, *, seconds: int, ago: datetime.timedelta = datetime.timedelta()) -> None:
    """A run that ended so."""
    now = timezone.now() - ago
    Run.objects.create(
        company=like.company,
        agent=like.agent,
        state=state,
        deadline_at=now,
        started_at=now - datetime.timedelta(seconds=seconds),
        ended_at=now,
    )
