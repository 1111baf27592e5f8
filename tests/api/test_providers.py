"""Who answers, over the API: keys come in and never go out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.adapters.base import ErrorKind
from issues.models import Company
from issues.sealing import unseal
from tests import build
from tests.api.client import Api
from tests.engine.houses import Houses, failing, standing

HERE = "companies/ACME/providers"
KEY = "sk-of-the-company-0123456789"
NEW = {"name": "home", "protocol": "openai", "base_url": "http://home.test/v1", "model": "small", "key": KEY}


@pytest.fixture
def houses() -> Iterator[Houses]:
    with standing() as houses:
        yield houses


def test_a_provider_is_added_listed_changed_and_removed(api: Api, company: Company) -> None:
    made = api.post(HERE, NEW)
    assert made.status == 201
    assert (made["has_key"], made["key_end"], made["is_own"], made["state"]) == (True, "6789", True, "ready")
    assert KEY not in str(made.body)
    assert [row["name"] for row in api.get(HERE)["providers"]] == ["home", "openai", "anthropic", "scripted"]
    changed = api.patch(f"{HERE}/home", {"model": "large", "max_concurrent_runs": 2})
    assert (changed["model"], changed["max_concurrent_runs"], changed["has_key"]) == ("large", 2, True)
    assert api.patch(f"{HERE}/home", {"key": ""})["has_key"] is False
    assert api.delete(f"{HERE}/home").status == 204
    assert api.get(f"{HERE}/home").status == 404


def test_a_key_needs_its_address_and_an_address_its_key(api: Api, company: Company) -> None:
    api.post(HERE, NEW)
    answer = api.patch(f"{HERE}/home", {"base_url": "http://elsewhere.test"})
    assert (answer.status, list(answer["errors"])) == (422, ["key"])
    assert api.patch(f"{HERE}/home", {"base_url": "http://elsewhere.test", "key": "another-key-123"}).status == 200
    assert unseal(company.providers.get().sealed_key) == "another-key-123"


def test_tiers_and_chain_are_read_and_changed(api: Api, company: Company) -> None:
    api.post(HERE, NEW)
    sent = {"tiers": [{"tier": "strong", "provider": "home", "model": "big"}], "chain": [{"provider": "home"}]}
    answer = api.patch("companies/ACME/models", sent)
    assert answer.body == {
        "tiers": [{"tier": "strong", "provider": "home", "model": "big"}],
        "chain": [{"provider": "home", "model": ""}],
    }
    assert api.patch("companies/ACME/models", {"chain": []})["tiers"] == answer["tiers"]
    for wrong, field in (({"chain": [{"provider": "nobody"}]}, "chain"), ({"tiers": [{"provider": "home"}]}, "tiers")):
        refused = api.patch("companies/ACME/models", wrong)
        assert (refused.status, list(refused["errors"])) == (422, [field])


def test_an_agent_is_given_a_tier(api: Api, company: Company) -> None:
    made = api.post("agents", {"name": "Eve", "model_tier": "light"})
    assert (made.status, made["model_tier"], made["provider"]) == (201, "light", "")
    assert api.patch(f"agents/{made['id']}", {"model": "m"}).status == 422


def test_one_is_tried_and_let_be_asked_again(api: Api, company: Company, houses: Houses) -> None:
    api.post(HERE, NEW)
    houses.says = {"home": failing(ErrorKind.AUTH, "No such key.")}
    tried = api.post(f"{HERE}/home/try", {})
    assert (tried.status, tried["answers"], tried["words"]) == (200, False, "No such key.")
    houses.says = {}
    assert api.post(f"{HERE}/home/try", {"model": "other"})["answers"]
    assert houses.asked[-1][1].model == "other"
    assert api.post(f"{HERE}/home/reset")["state"] == "ready"


def test_agents_neither_see_nor_choose_whom_they_ask(ada_api: Api, company: Company) -> None:
    build.provider(company)
    for answer in (
        ada_api.get(HERE),
        ada_api.get("companies/ACME/models"),
        ada_api.post(HERE, NEW),
        ada_api.post(f"{HERE}/home/try", {}),
    ):
        assert answer.status == 403
