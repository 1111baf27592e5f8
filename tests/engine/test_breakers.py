"""Breakers in the engine: who is left alone, who tries, and who is not touched by it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.adapters.base import ErrorKind
from agents.models import Agent, Breaker, Run, RunState, Wakeup, WakeupState
from agents.services.providers import edit_provider
from engine.claim import claim, claim_next
from engine.diagnosis import examine
from engine.explaining import explain
from engine.heartbeat import heartbeat
from engine.offers import offer_of
from engine.routing import choose_endpoint
from issues.models import Company, Issue
from tests import build
from tests.engine.houses import Houses, build_houses, failing, past, standing
from tests.engine.running import run_next
from tests.engine.test_claiming import mention, quiet_issue
from tests.services.at_once import at_once
from trimus.language_models import LanguageModels

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def houses() -> Iterator[Houses]:
    with standing() as houses:
        yield houses


@pytest.fixture
def company() -> Company:
    company, _ = build.company_with_founder()
    build_houses(company, "first")
    company.refresh_from_db()
    return company


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", provider="first", max_concurrent_runs=5)


def woken(agent: Agent) -> Issue:
    issue = quiet_issue(agent.company)
    mention(agent, issue)
    return issue


def let_time_pass() -> None:
    """Until a probe may be made, and what waits is looked at."""
    Breaker.objects.update(open_until=past())
    Wakeup.objects.filter(state=WakeupState.PENDING).update(due_at=past())


def opened(ada: Agent, houses: Houses, kind: ErrorKind = ErrorKind.AUTH) -> Breaker:
    """The breaker of the first house, opened by a run of Ada's."""
    woken(ada)
    houses.says = {"first": failing(kind)}
    run_next()
    return Breaker.objects.get()


class TestOpening:
    @pytest.mark.parametrize("kind", [ErrorKind.NETWORK, ErrorKind.OVERLOADED])
    def test_two_failures_in_a_row_leave_it_alone_for_five_minutes(
        self, kind: ErrorKind, ada: Agent, houses: Houses
    ) -> None:
        assert opened(ada, houses, kind).open_until is None
        woken(ada)
        before = timezone.now()
        run_next()
        until = Breaker.objects.get().open_until
        assert until is not None
        assert timedelta(minutes=5) <= until - before < timedelta(minutes=6)

    def test_one_of_the_credential_leaves_it_alone_for_thirty(self, ada: Agent, houses: Houses) -> None:
        before = timezone.now()
        until = opened(ada, houses).open_until
        assert until is not None
        assert timedelta(minutes=30) <= until - before < timedelta(minutes=31)

    def test_an_answer_between_two_failures_is_a_new_beginning(self, ada: Agent, houses: Houses) -> None:
        opened(ada, houses, ErrorKind.NETWORK)
        houses.says = {}
        woken(ada)
        run_next()
        assert not Breaker.objects.exists()
        assert opened(ada, houses, ErrorKind.NETWORK).open_until is None

    @pytest.mark.parametrize("kind", [ErrorKind.REFUSED, ErrorKind.BAD_REQUEST, ErrorKind.CONTEXT_TOO_LONG])
    def test_what_is_wrong_with_a_request_says_nothing_of_the_provider(
        self, kind: ErrorKind, ada: Agent, houses: Houses
    ) -> None:
        woken(ada)
        houses.says = {"first": failing(kind)}
        run_next()
        assert not Breaker.objects.exists()

    def test_the_key_is_no_part_of_its_breaker(self, ada: Agent, houses: Houses) -> None:
        breaker = opened(ada, houses)
        assert len(breaker.key) == 64
        assert "key-of-first" not in repr(vars(breaker))

    def test_one_companys_bad_key_stops_nobody_else(self, ada: Agent, houses: Houses) -> None:
        opened(ada, houses)
        other, _ = build.company_with_founder("OTHER")
        build_houses(other, "first")  # the same address, with another key
        other.refresh_from_db()
        woken(build.agent(other, "Bea", provider="first"))
        houses.says = {}
        assert run_next().state == RunState.SUCCEEDED
        assert Breaker.objects.count() == 1

    def test_a_key_that_is_given_anew_is_asked_at_once(self, ada: Agent, houses: Houses, company: Company) -> None:
        opened(ada, houses)
        edit_provider(actor=build.owner_of(company), provider=company.providers.get(), key="another-key-0123456789")
        houses.says = {}
        assert run_next().state == RunState.SUCCEEDED


class TestProbe:
    def test_one_run_tries_and_its_answer_lets_all_go_on(self, ada: Agent, houses: Houses) -> None:
        opened(ada, houses)
        woken(ada)
        let_time_pass()
        houses.says = {}
        probe = claim_next()
        assert probe is not None
        assert claim_next() is None
        assert "one run tries it now" in Wakeup.objects.get(state=WakeupState.PENDING).waiting_because
        heartbeat(probe)
        assert not Breaker.objects.exists()
        let_time_pass()
        assert run_next().state == RunState.SUCCEEDED

    def test_its_failure_leaves_the_provider_alone_again(self, ada: Agent, houses: Houses) -> None:
        opened(ada, houses)
        let_time_pass()
        run_next()
        breaker = Breaker.objects.get()
        assert breaker.open_until is not None
        assert breaker.open_until > timezone.now() + timedelta(minutes=29)
        assert (breaker.probe_until, breaker.probe_run) == (None, None)
        assert [wakeup.tries for wakeup in Wakeup.objects.all()] == [0]

    def test_of_several_workers_one_has_it(self, ada: Agent, houses: Houses) -> None:
        opened(ada, houses)
        bea = build.agent(ada.company, "Bea", provider="first")
        cleo = build.agent(ada.company, "Cleo", provider="first")
        pairs = [(agent.pk, woken(agent).pk) for agent in (bea, cleo)]
        let_time_pass()
        began = at_once([lambda pair=pair: claim(*pair) for pair in pairs])
        assert sorted(type(run).__name__ for run in began) == ["NoneType", "Run"]

    def test_a_probe_whose_worker_died_blocks_only_until_its_run_is_given_up(self, ada: Agent, houses: Houses) -> None:
        opened(ada, houses)
        let_time_pass()
        dead = claim_next()
        assert dead is not None
        woken(ada)
        assert claim_next() is None
        Run.objects.filter(pk=dead.pk).update(state=RunState.LOST, ended_at=timezone.now())
        Wakeup.objects.filter(state=WakeupState.PENDING).update(due_at=past())
        houses.says = {}
        assert run_next().state == RunState.SUCCEEDED

    def test_a_probe_of_which_nothing_is_heard_counts_as_dead_after_its_deadline(
        self, ada: Agent, houses: Houses
    ) -> None:
        opened(ada, houses)
        let_time_pass()
        hung = claim_next()
        assert hung is not None
        assert Breaker.objects.get().probe_until == hung.deadline_at
        woken(ada)
        Breaker.objects.update(probe_until=past())
        assert claim_next() is not None


class TestShown:
    def test_on_the_issue_in_the_settings_and_to_the_doctor(self, ada: Agent, houses: Houses, company: Company) -> None:
        breaker = opened(ada, houses)
        issue = Wakeup.objects.get().issue
        assert f"it is tried again at {breaker.open_until:%H:%M} UTC" in explain(issue).reason
        offer = offer_of(company, "first")
        assert (offer.state, offer.trouble) == (
            "left_alone",
            "first does not take the key, or its bill is not paid. It was auth.",
        )
        (check,) = [check for check in examine() if check.what == "providers"]
        assert "first at first.test does not take the key" in check.found

    def test_what_a_shared_provider_said_to_one_company_is_not_told_to_another(
        self, houses: Houses, settings: Settings
    ) -> None:
        settings.LLM = LanguageModels(openai_base_url="http://shared.test/v1", openai_api_key="sk-of-all-of-them")
        one, _ = build.company_with_founder("ONE")
        other, _ = build.company_with_founder("OTHER")
        woken(build.agent(one, "Ada", provider="openai"))
        waits = woken(build.agent(other, "Bea", provider="openai"))
        houses.says = {"shared": failing(ErrorKind.AUTH, "Project moonshot may not do this.")}
        run_next()
        Wakeup.objects.update(due_at=past())
        assert claim_next() is None
        assert "openai does not take the key" in explain(waits).reason
        assert "moonshot" not in explain(waits).reason + offer_of(other, "openai").trouble


class TestCrowded:
    def test_a_provider_answers_so_many_at_a_time(self, ada: Agent, houses: Houses, company: Company) -> None:
        edit_provider(actor=build.owner_of(company), provider=company.providers.get(), max_concurrent_runs=1)
        first, second = woken(ada), woken(ada)
        run = claim_next()
        assert run is not None
        assert run.issue == first
        assert claim_next() is None
        assert "first answers one run already, its limit." in explain(second).reason
        heartbeat(run)
        Wakeup.objects.update(due_at=past())
        assert run_next().issue == second

    def test_and_so_does_the_whole_installation(self, ada: Agent, houses: Houses, settings: Settings) -> None:
        settings.MAX_RUNS = 1
        woken(ada)
        other, _ = build.company_with_founder("OTHER")
        build_houses(other, "first")
        waits = woken(build.agent(other, "Bea", provider="scripted", script="- reply: Yes."))
        assert claim_next() is not None
        assert claim_next() is None
        assert Wakeup.objects.get(issue=waits).waiting_because == "This installation has one run under way, its limit."

    def test_and_one_of_the_environment_for_all_companies_together(self, houses: Houses, settings: Settings) -> None:
        settings.LLM = LanguageModels(openai_base_url="http://shared.test/v1", openai_api_key="sk-of-all-of-them")
        settings.PROVIDER_MAX_RUNS = 1
        for key in ("ONE", "OTHER"):
            woken(build.agent(build.company_with_founder(key)[0], "Ada", provider="openai"))
        assert claim_next() is not None
        assert claim_next() is None
        assert "openai answers one run already" in Wakeup.objects.get(state=WakeupState.PENDING).waiting_because


def test_a_run_says_whom_it_asks_by_a_hash_alone(ada: Agent, houses: Houses) -> None:
    woken(ada)
    run = claim_next()
    assert run is not None
    assert run.endpoint == choose_endpoint(ada).key
    assert len(run.endpoint) == 64
