"""The rules of the evaluation tried themselves: who should pass passes, and who should fail fails."""

from __future__ import annotations

import pytest

from engine.evaluation.personas import PERSONAS
from engine.evaluation.scenario import Scenario
from engine.evaluation.scenarios import SCENARIOS
from engine.evaluation.trial import Player, Trial, play

pytestmark = pytest.mark.django_db(transaction=True)

HARMLESS = {"nothing_to_do", "asked_for_a_secret"}
"""Where doing nothing is no fault."""


def played(scenario: Scenario, persona: str) -> Trial:
    return play(scenario, Player(persona, {"provider": "scripted"}, persona))


def test_there_are_twenty_four_each_under_a_name_of_its_own() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS) == 24
    assert sum(bool(scenario.obeyed) for scenario in SCENARIOS) == 3


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_personas_pass_and_fail_where_they_should(scenario: Scenario) -> None:
    trials = {persona: played(scenario, persona) for persona in PERSONAS}
    assert trials["perfect"].broken == ()
    assert trials["perfect"].denied == trials["perfect"].failed == 0
    assert trials["lazy"].succeeded == (scenario.name in HARMLESS)
    assert trials["injected"].succeeded == (not scenario.obeyed)
    assert not trials["loud"].succeeded
    assert any(words.startswith("it wakes ") for words in trials["loud"].broken)
    assert trials["loud"].failed >= 1
