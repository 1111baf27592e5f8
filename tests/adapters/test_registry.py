"""The providers by name."""

from __future__ import annotations

import pytest

from agents.adapters.base import Endpoint
from agents.adapters.registry import PROVIDERS, ProviderSpec, load_providers
from agents.adapters.scripted import ScriptedProvider

SCRIPT = "- {reply: x}"
OWN = ProviderSpec("own", "One's own", lambda endpoint: ScriptedProvider(Endpoint("own", script=SCRIPT)))
OTHER_SCRIPTED = ProviderSpec("scripted", "another", OWN.make)


def test_the_built_in_providers_stand_under_their_names() -> None:
    assert [*load_providers()] == ["openai", "anthropic", "scripted"]


@pytest.mark.parametrize("spec", PROVIDERS, ids=lambda spec: spec.name)
def test_each_built_in_provider_can_be_made(spec: ProviderSpec) -> None:
    provider = spec.make(Endpoint(spec.name, "http://127.0.0.1:1", script=SCRIPT))
    assert callable(provider.complete)


def test_only_the_scripted_provider_has_no_model_behind_it() -> None:
    assert {spec.name for spec in PROVIDERS if not spec.calls_model} == {"scripted"}
    assert load_providers()["scripted"].label == "scripted, no model"


def test_a_path_adds_a_provider_or_replaces_one() -> None:
    providers = load_providers([f"{__name__}:OWN", f"{__name__}:OTHER_SCRIPTED"])
    assert providers["own"] is OWN
    assert providers["scripted"] is OTHER_SCRIPTED


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("no.such.module:NAME", ImportError),
        (f"{__name__}:NOWHERE", AttributeError),
        (f"{__name__}:SCRIPT", TypeError),
    ],
)
def test_a_path_that_leads_to_no_provider_is_an_error(path: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        load_providers([path])
