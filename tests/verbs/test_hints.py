"""A reply that claims what no verb of it does is told so in the next prompt."""

from __future__ import annotations

import pytest

from engine.actions import parse_agent_actions
from engine.hints import hint_for
from engine.workbench import draft_prompt
from tests.verbs.stage import Stage

CLAIMS = {
    "I am escalating this to my manager.": "escalate",
    "I'm now escalating to the board.": "escalate",
    "Escalating this, since I cannot decide it.": "escalate",
    "I have escalated this to @max.": "escalate",
    "I’m escalating.": "escalate",
    "The limit stands.\nEscalating to my manager.": "escalate",
    "I will assign this to Ada.": "assign",
    "Assigning to @ada.": "assign",
    "I’ve already reassigned @ada.": "assign",
    "Reassigning it to @ada, who knows the store.": "assign",
    "I am marking this as blocked until the keys arrive.": "blocked",
    "Setting the issue to blocked.": "blocked",
    "I’ve set it to blocked.": "blocked",
}
NO_CLAIMS = [
    "The team escalated a similar issue last year.",
    "Ada was assigned the other part.",
    "The build is blocked by a missing key; I have added it.",
    "Nothing to escalate here.",
    "I will not escalate this.",
    "I can escalate it if you like.",
    "I am not escalating this, and not assigning it to anybody.",
    "Max marked this as blocked in May.",
    "> I am escalating this.",
]
BACKED = [
    "I am escalating this.\n/assign @max",
    "I am escalating this.\n/request-approval Buy a key",
    "I am escalating this.\n/ask Who pays?",
    "Assigning this to Ada.\n/assign @ada",
    "Marking this as blocked.\n/blocked-by ACME-7",
    "Marking this as blocked.\n/status blocked",
]


@pytest.mark.parametrize(("prose", "about"), CLAIMS.items())
def test_a_claim_without_its_verb_is_told(prose: str, about: str) -> None:
    hint = hint_for(parse_agent_actions(prose))
    assert about in hint
    assert hint.endswith("Only verbs move things.")


@pytest.mark.parametrize("prose", NO_CLAIMS)
def test_what_claims_nothing_is_left_alone(prose: str) -> None:
    assert hint_for(parse_agent_actions(prose)) == ""


@pytest.mark.parametrize("reply", BACKED)
def test_a_claim_with_its_verb_is_left_alone(reply: str) -> None:
    assert hint_for(parse_agent_actions(reply)) == ""


def test_it_stands_in_the_next_prompt_there(stage: Stage) -> None:
    stage.reply("I am escalating this to my manager.")
    assert "About your last reply: You wrote that you escalate" in draft_prompt(stage.bob, stage.again()).user
