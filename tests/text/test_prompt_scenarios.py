"""Which scenario a heartbeat is."""

from __future__ import annotations

import pytest

from engine.text.context import Scenario
from engine.text.playbook import SCENARIO_LINES
from engine.text.scenario import choose_scenario


@pytest.mark.parametrize(
    ("sources", "facts", "scenario"),
    [
        ({"review_requested"}, {"is_own": False}, Scenario.REVIEW),
        ({"mention"}, {"is_own": False, "is_asked_to_review": True}, Scenario.REVIEW),
        ({"review_requested"}, {"is_own": False, "is_routing": True}, Scenario.REVIEW),
        ({"created"}, {"is_own": True, "is_routing": True}, Scenario.TRIAGE),
        ({"mention"}, {"is_own": False, "is_routing": True}, Scenario.TRIAGE),
        ({"mention"}, {"is_own": False}, Scenario.REPLY),
        ({"mention", "manual"}, {"is_own": False}, Scenario.REPLY),
        ({"mention"}, {"is_own": True}, Scenario.WORK),
        ({"blocker_resolved"}, {"is_own": True}, Scenario.FOLLOWUP),
        ({"child_closed", "commented"}, {"is_own": True}, Scenario.FOLLOWUP),
        ({"approval_decided"}, {"is_own": True}, Scenario.FOLLOWUP),
        ({"schedule"}, {"is_own": True}, Scenario.CHECKIN),
        ({"schedule", "commented"}, {"is_own": True}, Scenario.WORK),
        ({"continue"}, {"is_own": True}, Scenario.WORK),
        ({"assigned"}, {"is_own": True}, Scenario.WORK),
        (set(), {"is_own": True}, Scenario.WORK),
    ],
)
def test_the_first_scenario_that_fits_is_chosen(sources: set[str], facts: dict[str, bool], scenario: Scenario) -> None:
    assert choose_scenario(sources, **{"is_routing": False} | facts) is scenario


@pytest.mark.parametrize("scenario", Scenario)
def test_a_scenario_says_its_lines_in_four_hundred_bytes(scenario: Scenario) -> None:
    assert 0 < len(" ".join(SCENARIO_LINES[scenario]).encode()) <= 400
