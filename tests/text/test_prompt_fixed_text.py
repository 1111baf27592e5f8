"""The fixed text stays within its caps: it is paid for at every heartbeat of every agent.

Raising a cap is a deliberate change that says its reason here.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from engine.prompt import build_heartbeat_prompt
from engine.text.context import Actions, Limits, Scenario, Tier, VerbCard
from engine.text.contract import CONTRACT, CONTRACT_HASH
from tests.text.contexts import CARDS, NOW, plain

CAPS = {Tier.FULL: 5_500, Tier.LEAN: 3_500}
FIXED = ("Contract", "Available Actions", "Escalation Playbook", "Instructions")
POLICIES = {
    "standard": CARDS,
    "no installing": tuple(card for card in CARDS if not card.name.startswith("install")),
    "core alone": tuple(card for card in CARDS if card.core),
    **{f"no {denied.name}": tuple(card for card in CARDS if card is not denied) for denied in CARDS},
}
LIMITS = [Limits(is_last_run=last, is_budget_low=low) for last in (False, True) for low in (False, True)]
FAR_AWAY = NOW.astimezone(ZoneInfo("America/Argentina/ComodRivadavia"))
"""The zone with the longest name: the last line says it."""


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("scenario", Scenario)
@pytest.mark.parametrize("cards", POLICIES.values(), ids=POLICIES)
def test_the_fixed_text_fits_its_cap(cards: tuple[VerbCard, ...], scenario: Scenario, tier: Tier) -> None:
    for limits in LIMITS:
        context = plain(actions=Actions(cards), scenario=scenario, tier=tier, limits=limits, now=FAR_AWAY)
        sizes = {s.title: s.size for s in build_heartbeat_prompt(context).sections if s.title in FIXED}
        assert len(sizes) == len(FIXED)
        assert sum(sizes.values()) <= CAPS[tier], sizes


def test_the_contract_names_no_vendor_no_date_and_no_figure() -> None:
    text = CONTRACT.casefold()
    assert not any(character.isdigit() for character in text)
    for vendor in ("openai", "anthropic", "claude", "gpt", "gemini", "llama", "mistral"):
        assert vendor not in text


def test_the_contract_is_the_same_for_every_agent_and_tier() -> None:
    prompts = [build_heartbeat_prompt(plain(tier=tier, scenario=scenario)) for tier in Tier for scenario in Scenario]
    assert {prompt.contract_hash for prompt in prompts} == {CONTRACT_HASH}
    assert all(prompt.system.startswith(f"## Contract\n\n{CONTRACT}\n") for prompt in prompts)
