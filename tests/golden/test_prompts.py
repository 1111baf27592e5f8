"""Whole prompts, pinned. A change of the text is seen in review, not in what agents do weeks later.

Renew them with `pytest tests/golden --accept`, and read the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.prompt import HeartbeatPrompt, build_heartbeat_prompt
from engine.text.context import HeartbeatContext, Scenario, Tier
from tests.golden.cases import CASES

FOLDER = Path(__file__).parent / "prompts"


def pinned_form(prompt: HeartbeatPrompt) -> str:
    facts = f"deferred {list(prompt.deferred)}, delivered {list(prompt.delivered)}, hidden {prompt.hidden_characters}"
    return f"{prompt.system}\n\n======== user ========\n\n{prompt.user}\n\n======== facts ========\n\n{facts}\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_prompt_is_as_pinned(case: Callable[[], HeartbeatContext], request: pytest.FixtureRequest) -> None:
    file = FOLDER / f"{case.__name__}.txt"
    now = pinned_form(build_heartbeat_prompt(case()))
    if request.config.getoption("--accept", default=False):
        FOLDER.mkdir(exist_ok=True)
        file.write_bytes(now.encode())
    assert file.read_bytes().decode() == now, "the prompt changed: if that is meant, pytest tests/golden --accept"


def test_every_scenario_and_both_tiers_are_pinned() -> None:
    contexts = [case() for case in CASES]
    assert {context.scenario for context in contexts} == set(Scenario)
    assert {context.tier for context in contexts} == set(Tier)
    assert len({case.__name__ for case in CASES}) == len(CASES) == 12


def test_no_prompt_is_pinned_that_no_case_makes() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == {case.__name__ for case in CASES}
