"""Settings, Models: providers are added, tried and changed; who answers is said, and who asks whom is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import Agent, Breaker, CompanyProvider, ModelCall, Spending
from agents.services.breakers import note_failure
from agents.services.spending import set_budget
from engine.offers import offer_of
from engine.routing import choose_endpoint
from engine.troubles import called
from issues.actors import Person
from issues.models import Activity, Company, Role
from issues.sealing import unseal
from tests import build
from tests.engine.houses import Houses, failing, standing
from tests.web.test_pages import text_of

PAGE = "/acme/settings/models/"
KEY = "sk-of-the-company-0123456789"
NEW = {"name": "home", "protocol": "openai", "base_url": "http://home.test/v1", "model": "small"}


@pytest.fixture
def houses() -> Iterator[Houses]:
    with standing() as houses:
        yield houses


@pytest.fixture
def home(company: Company) -> CompanyProvider:
    return build.provider(company, key=KEY)


def break_it(company: Company, kind: ErrorKind = ErrorKind.AUTH) -> None:
    company.refresh_from_db()
    route = offer_of(company, "home").route
    assert route is not None
    note_failure(company, called(route), AdapterError(kind, "No such key."))


class TestProviders:
    def test_a_new_company_is_told_what_to_do(self, page: Client, company: Company) -> None:
        said = text_of(page.get(PAGE).content)
        assert "No model is set up yet." in said
        page.post(f"{PAGE}add/", NEW)
        assert "No model is set up yet." not in text_of(page.get(PAGE).content)

    def test_one_is_added_with_a_key_that_is_not_shown_again(self, page: Client, company: Company) -> None:
        answer = page.post(f"{PAGE}add/", {**NEW, "secret": KEY, "max_concurrent_runs": "3"}, follow=True)
        body = answer.content.decode()
        assert "home is added" in body
        assert "ending in <code>6789</code>" in body
        assert KEY not in body
        provider = company.providers.get()
        assert (unseal(provider.sealed_key), provider.model, provider.max_concurrent_runs) == (KEY, "small", 3)

    def test_what_is_refused_comes_back_as_it_was_sent_but_for_the_key(self, page: Client, company: Company) -> None:
        answer = page.post(f"{PAGE}add/", {**NEW, "name": "My own", "secret": KEY})
        body = answer.content.decode()
        assert (answer.status_code, KEY in body) == (422, False)
        assert 'value="My own"' in body
        assert 'value="http://home.test/v1"' in body

    def test_an_empty_key_leaves_it_and_a_box_takes_it_away(
        self, page: Client, company: Company, home: CompanyProvider
    ) -> None:
        page.post(f"{PAGE}home/edit/", {"base_url": home.base_url, "model": "large", "secret": ""})
        home.refresh_from_db()
        assert (home.model, unseal(home.sealed_key)) == ("large", KEY)
        page.post(f"{PAGE}home/edit/", {"base_url": home.base_url, "model": "large", "without_key": "1"})
        home.refresh_from_db()
        assert home.sealed_key == ""

    def test_a_key_does_not_move_to_another_host(self, page: Client, company: Company, home: CompanyProvider) -> None:
        answer = page.post(f"{PAGE}home/edit/", {"base_url": "http://elsewhere.test", "model": "m"})
        assert answer.status_code == 422
        assert "given for another address" in text_of(answer.content)
        home.refresh_from_db()
        assert home.base_url == "http://home.test/v1"

    def test_one_is_removed_unless_it_is_named(self, page: Client, company: Company, home: CompanyProvider) -> None:
        eve = build.agent(company, "Eve", provider="home")
        assert page.post(f"{PAGE}home/remove/").status_code == 409
        Agent.objects.filter(pk=eve.pk).update(provider="")
        page.post(f"{PAGE}home/remove/")
        assert not company.providers.exists()

    @pytest.mark.parametrize("action", ["edit", "remove", "try", "reset"])
    def test_what_is_not_there_is_not_found(self, action: str, page: Client, company: Company) -> None:
        assert page.post(f"{PAGE}nobody/{action}/").status_code == 404


class TestTrying:
    def test_it_says_in_words_what_happened(
        self, page: Client, company: Company, home: CompanyProvider, houses: Houses
    ) -> None:
        houses.says = {"home": "Ready."}
        assert "home answered as house-model-1 in 0.0 s: “Ready.”." in text_of(page.post(f"{PAGE}home/try/").content)
        call = ModelCall.objects.get()
        assert (call.purpose, call.provider, call.run, call.input_tokens) == ("trial", "home", None, 100)
        assert Spending.objects.get(agent=None).tokens == 110

    @pytest.mark.parametrize(
        ("kind", "hint"),
        [
            (ErrorKind.AUTH, "Is the key whole"),
            (ErrorKind.NETWORK, "is the server running"),
            (ErrorKind.BAD_REQUEST, "Is there a model of that name"),
            (ErrorKind.OVERLOADED, "again in a minute"),
        ],
    )
    def test_and_what_to_look_at(
        self, kind: ErrorKind, hint: str, page: Client, company: Company, home: CompanyProvider, houses: Houses
    ) -> None:
        houses.says = {"home": failing(kind, "It said no.")}
        said = text_of(page.post(f"{PAGE}home/try/").content)
        assert "It said no." in said
        assert hint in said
        assert houses.names == ["home"]  # once, without another try
        assert not Breaker.objects.exists()  # a person's test is held against nobody

    def test_an_answer_lets_it_be_asked_again(
        self, page: Client, company: Company, home: CompanyProvider, houses: Houses
    ) -> None:
        break_it(company)
        page.post(f"{PAGE}home/try/")
        assert not Breaker.objects.exists()

    def test_a_spent_budget_has_no_room_for_it(
        self, page: Client, company: Company, home: CompanyProvider, houses: Houses, founder: Person
    ) -> None:
        page.post(f"{PAGE}home/try/")
        set_budget(actor=founder, company=company, tokens=50)
        answer = page.post(f"{PAGE}home/try/")
        assert (answer.status_code, len(houses.asked)) == (409, 1)

    def test_what_is_not_set_up_says_what_is_missing(self, page: Client, company: Company) -> None:
        answer = page.post(f"{PAGE}anthropic/try/")
        assert answer.status_code == 409
        assert "ANTHROPIC_API_KEY is not set" in text_of(answer.content)


class TestHealth:
    def test_one_that_is_left_alone_says_why_and_until_when(
        self, page: Client, company: Company, home: CompanyProvider
    ) -> None:
        break_it(company, ErrorKind.NETWORK)
        assert "Failed last home" in text_of(page.get(PAGE).content)
        break_it(company, ErrorKind.NETWORK)
        said = text_of(page.get(PAGE).content)
        assert "Left alone home" in said
        assert "home does not answer. No such key. Left alone until" in said

    def test_a_board_member_lets_it_be_asked_again(
        self, company: Company, home: CompanyProvider, browse: Callable[[Person], Client]
    ) -> None:
        break_it(company)
        client = browse(build.member(company, role=Role.BOARD))
        assert "Ask again now" in client.get(PAGE).content.decode()
        client.post(f"{PAGE}home/reset/")
        assert not Breaker.objects.exists()
        line = Activity.objects.get(kind="provider.reset")
        assert line.data == {"provider": "home"}

    def test_calls_of_a_day_are_counted(
        self, page: Client, company: Company, home: CompanyProvider, houses: Houses
    ) -> None:
        page.post(f"{PAGE}home/try/")
        houses.says = {"home": failing(ErrorKind.AUTH)}
        page.post(f"{PAGE}home/try/")
        assert "2 calls in a day, 1 failed" in text_of(page.get(PAGE).content)


class TestWhoAnswers:
    def test_tiers_chain_and_thinking_are_said_in_one_form(
        self, page: Client, company: Company, home: CompanyProvider
    ) -> None:
        sent = {
            "standard-provider": "home",
            "strong-provider": "home",
            "strong-model": "big",
            "chain-1-provider": "home",  # an empty line before it is no matter
            "chain-1-model": "spare",
            "default_thinking": "low",
        }
        page.post(PAGE, sent)
        company.refresh_from_db()
        assert company.model_tiers == {
            "standard": {"provider": "home", "model": ""},
            "strong": {"provider": "home", "model": "big"},
        }
        assert company.model_chain == [{"provider": "home", "model": "spare"}]
        assert company.default_thinking == "low"
        build.agent(company, "Bea", model_tier="strong")
        assert "Bea home, big , then home, spare" in text_of(page.get(PAGE).content)

    def test_what_is_refused_changes_nothing_and_comes_back(
        self, page: Client, company: Company, home: CompanyProvider
    ) -> None:
        answer = page.post(PAGE, {"standard-provider": "home", "chain-0-model": "m", "default_thinking": "low"})
        assert answer.status_code == 422
        assert 'name="chain-0-model" value="m"' in answer.content.decode()
        company.refresh_from_db()
        assert (company.model_tiers, company.default_thinking) == ({}, "")


class TestAgents:
    def test_an_agent_is_hired_for_a_tier_or_for_a_provider(
        self, page: Client, company: Company, home: CompanyProvider
    ) -> None:
        form = page.get("/acme/agents/hire/").content.decode()
        assert '<option value="tier:strong">' in form
        assert "<option>home</option>" in form
        page.post("/acme/agents/hire/", {"name": "Bea", "provider": "tier:strong", "model": ""})
        bea = Agent.objects.get(name="Bea")
        assert (bea.model_tier, bea.provider) == ("strong", "")
        assert "the strong tier" in text_of(page.get("/acme/agents/bea/").content)
        assert '<option value="tier:strong" selected>' in page.get("/acme/agents/bea/edit/").content.decode()
        page.post("/acme/agents/bea/edit/", {"name": "Bea", "provider": "home", "model": "m"})
        bea.refresh_from_db()
        assert (bea.model_tier, choose_endpoint(bea).name, choose_endpoint(bea).model) == ("", "home", "m")

    def test_both_at_once_are_refused_in_place(self, page: Client, company: Company) -> None:
        answer = page.post("/acme/agents/hire/", {"name": "Bea", "provider": "tier:strong", "model": "m"})
        assert answer.status_code == 422
        assert "not both" in text_of(answer.content)

    def test_where_a_model_is_there_a_new_agent_asks_it(
        self, page: Client, company: Company, settings: Settings
    ) -> None:
        assert '<option value="scripted" selected>' in page.get("/acme/agents/hire/").content.decode()
        build.provider(company)
        assert '<option value="scripted" selected>' not in page.get("/acme/agents/hire/").content.decode()
