"""A company's own providers: what they may be called, where they may lead, and what becomes of their keys."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from agents.model_choices import ModelChoice
from agents.models import CompanyProvider
from agents.services.agents import edit_agent
from agents.services.providers import (
    LONGEST_CHAIN,
    MOST_PROVIDERS,
    add_provider,
    change_models,
    edit_provider,
    remove_provider,
)
from engine.routing import NoProvider, choose_endpoint
from issues.actors import Person
from issues.models import Activity, Company
from issues.refusals import Conflict, Invalid
from issues.sealing import Unsealable, reseal_all, unseal
from tests import build

pytestmark = pytest.mark.django_db

KEY = "sk-live-4f1d-0123456789-abcd"
NEW_KEYS = ["a new key of more than thirty-two characters", "an old key of more than thirty-two characters"]


def add(company: Company, **fields: Any) -> CompanyProvider:
    wanted = {"name": "home", "protocol": "openai", "base_url": "https://models.example.org/v1", "key": KEY}
    return add_provider(actor=build.owner_of(company), company=company, **wanted | fields)


class TestKeys:
    def test_a_key_is_sealed_and_only_its_end_is_shown(self, company: Company) -> None:
        provider = add(company)
        assert unseal(provider.sealed_key) == KEY
        assert (provider.key_end, provider.key_set_at is not None) == ("abcd", True)
        assert KEY not in str(vars(provider))
        assert KEY not in str(list(Activity.objects.values_list("data", flat=True)))

    def test_of_a_short_one_not_even_that(self, company: Company) -> None:
        assert add(company, key="abcd-1234").key_end == ""

    def test_no_key_leaves_it_and_an_empty_one_takes_it_away(self, company: Company, owner: Person) -> None:
        provider = edit_provider(actor=owner, provider=add(company), model="other")
        assert unseal(provider.sealed_key) == KEY
        provider = edit_provider(actor=owner, provider=provider, key="")
        assert (provider.sealed_key, provider.key_end, provider.key_set_at) == ("", "", None)

    @pytest.mark.parametrize(
        "address",
        ["https://elsewhere.example.org/v1", "http://models.example.org/v1", "https://models.example.org:8443", ""],
    )
    def test_a_key_is_sent_to_no_address_that_it_was_not_given_for(
        self, address: str, company: Company, owner: Person
    ) -> None:
        provider = add(company)
        with pytest.raises(Invalid, match="another address"):
            edit_provider(actor=owner, provider=provider, base_url=address)
        edited = edit_provider(actor=owner, provider=provider, base_url=address, key="the-key-of-the-new-one")
        assert unseal(edited.sealed_key) == "the-key-of-the-new-one"

    def test_another_path_of_the_same_host_needs_no_new_key(self, company: Company, owner: Person) -> None:
        edited = edit_provider(actor=owner, provider=add(company), base_url="https://models.example.org/v2/")
        assert (edited.base_url, edited.has_key) == ("https://models.example.org/v2", True)

    @pytest.mark.parametrize("key", ["two words", "ключ-0123456789", "a" * 501, "line\nbreak"])
    def test_what_no_key_looks_like_is_refused_without_showing_it(self, key: str, company: Company) -> None:
        with pytest.raises(Invalid) as refused:
            add(company, key=key)
        assert key not in str(refused.value)


class TestRotation:
    def test_every_secret_is_sealed_under_the_first_key_and_the_old_one_can_go(
        self, company: Company, settings: Settings
    ) -> None:
        settings.ENCRYPTION_KEYS = NEW_KEYS[1:]
        provider = add(company)
        settings.ENCRYPTION_KEYS = NEW_KEYS
        out = StringIO()
        call_command("rotate_keys", stdout=out)
        assert "1 secret sealed" in out.getvalue()
        settings.ENCRYPTION_KEYS = NEW_KEYS[:1]
        provider.refresh_from_db()
        assert unseal(provider.sealed_key) == KEY

    def test_one_that_no_key_opens_is_told_and_left_as_it_is(self, company: Company, settings: Settings) -> None:
        settings.ENCRYPTION_KEYS = NEW_KEYS[1:]
        before = add(company).sealed_key
        settings.ENCRYPTION_KEYS = NEW_KEYS[:1]
        assert reseal_all() == (0, 1)
        with pytest.raises(CommandError, match="1 more cannot be opened"):
            call_command("rotate_keys", stdout=StringIO())
        assert company.providers.get().sealed_key == before
        with pytest.raises(Unsealable):
            unseal(before)

    def test_whoever_asks_by_it_is_told_what_to_do(self, company: Company, settings: Settings) -> None:
        settings.ENCRYPTION_KEYS = NEW_KEYS[1:]
        add(company)
        settings.ENCRYPTION_KEYS = NEW_KEYS[:1]
        company.refresh_from_db()
        agent = build.agent(company, "Eve", provider="home", model="m")
        agent.company = company
        with pytest.raises(NoProvider, match="TRIMUS_ENCRYPTION_KEYS"):
            choose_endpoint(agent)


class TestNames:
    @pytest.mark.parametrize("name", ["", "My own", "-x", "a" * 31, "scripted", "häuschen", "a/b"])
    def test_what_cannot_be_a_name_is_refused(self, name: str, company: Company) -> None:
        with pytest.raises(Invalid):
            add(company, name=name)

    def test_a_name_is_there_once(self, company: Company) -> None:
        add(company)
        with pytest.raises(Conflict, match="already"):
            add(company, name="HOME")

    def test_under_the_name_of_the_environments_it_stands_in_its_place(self, company: Company) -> None:
        add(company, name="openai", base_url="", key=KEY)
        company.refresh_from_db()
        agent = build.agent(company, "Eve", provider="openai")
        agent.company = company
        assert choose_endpoint(agent).endpoint.api_key == KEY

    def test_a_company_has_so_many(self, company: Company) -> None:
        for number in range(MOST_PROVIDERS):
            add(company, name=f"p{number}", key="")
        with pytest.raises(Conflict, match="at most"):
            add(company, name="one-more")

    def test_one_that_is_named_somewhere_stays(self, company: Company, owner: Person) -> None:
        provider = add(company)
        eve = build.agent(company, "Eve", provider="home")
        change_models(
            actor=owner, company=company, tiers={"strong": ModelChoice("home")}, chain=[ModelChoice("home", "spare")]
        )
        with pytest.raises(Conflict, match="the tier Strong, the chain, @eve"):
            remove_provider(actor=owner, provider=provider)
        change_models(actor=owner, company=company, tiers={}, chain=[])
        edit_agent(actor=owner, agent=eve, provider="")
        remove_provider(actor=owner, provider=provider)
        assert not company.providers.exists()


class TestAddresses:
    @pytest.mark.parametrize(
        "address",
        [
            "http://127.0.0.1:11434/v1",
            "http://localhost/v1",
            "http://[::1]/v1",
            "http://[::ffff:10.0.0.1]/v1",
            "http://10.1.2.3/v1",
            "http://169.254.169.254/latest",
            "http://100.64.0.1/v1",
            "http://0.0.0.0/v1",
            "http://[fd00::1]/v1",
            "http://[64:ff9b::7f00:1]/v1",
            "http://printer.local/v1",
        ],
    )
    def test_a_private_one_needs_the_operators_word(self, address: str, company: Company, settings: Settings) -> None:
        settings.PRIVATE_MODEL_URLS = False
        with pytest.raises(Invalid, match="TRIMUS_PRIVATE_MODEL_URLS"):
            add(company, base_url=address)
        settings.PRIVATE_MODEL_URLS = True
        assert add(company, base_url=address).base_url == address

    @pytest.mark.parametrize(
        "address",
        [
            "ftp://x.org",
            "//x.org",
            "x.org/v1",
            "http://",
            "http://x:0/",
            "http://[",
            "https://u:p@x.org",
            "https://x.org?k=1",
        ],
    )
    def test_what_is_no_address_is_refused(self, address: str, company: Company) -> None:
        with pytest.raises(Invalid):
            add(company, base_url=address)

    def test_neither_key_nor_address_is_nothing(self, company: Company, owner: Person) -> None:
        with pytest.raises(Invalid, match="a key, an address or both"):
            add(company, base_url="", key="")
        vendor = add(company, base_url="")
        with pytest.raises(Invalid, match="a key, an address or both"):
            edit_provider(actor=owner, provider=vendor, key="")

    def test_whether_it_may_lead_home_is_decided_when_it_is_called(self, company: Company, settings: Settings) -> None:
        settings.PRIVATE_MODEL_URLS = False
        add(company, model="m")
        company.refresh_from_db()
        agent = build.agent(company, "Eve", provider="home")
        agent.company = company
        endpoint = choose_endpoint(agent).endpoint
        assert (endpoint.only_public, endpoint.set_by_company) == (True, True)


class TestTiersAndChain:
    @pytest.mark.parametrize(
        "changes",
        [
            {"tiers": {"huge": ModelChoice("openai")}},
            {"tiers": {"strong": ModelChoice("nobody")}},
            {"tiers": {"strong": ModelChoice("openai", "x" * 121)}},
            {"chain": [ModelChoice("", "m")]},
            {"chain": [ModelChoice("openai", "m"), ModelChoice("openai", "m")]},
            {"chain": [ModelChoice("openai", str(number)) for number in range(LONGEST_CHAIN + 1)]},
            {"chain": [ModelChoice("scripted")]},
        ],
    )
    def test_what_makes_no_sense_is_refused(self, changes: dict[str, Any], company: Company, owner: Person) -> None:
        with pytest.raises(Invalid):
            change_models(actor=owner, company=company, **changes)
        company.refresh_from_db()
        assert (company.model_tiers, company.model_chain) == ({}, [])

    def test_an_agent_names_a_tier_or_a_model_and_not_both(self, company: Company, owner: Person) -> None:
        eve = build.agent(company, "Eve", model_tier="strong")
        with pytest.raises(Invalid, match="not both"):
            edit_agent(actor=owner, agent=eve, model="m")
        with pytest.raises(Invalid, match="not a model_tier"):
            edit_agent(actor=owner, agent=eve, model_tier="huge")
        assert edit_agent(actor=owner, agent=eve, model_tier="", provider="openai", model="m").model == "m"
