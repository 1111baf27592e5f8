"""Checkpoints: what may be proposed, what never gets lost, and how History shows them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.prompt import build_heartbeat_prompt
from engine.text.checkpoint_request import CHECKPOINT_CONTRACT, checkpoint_request
from engine.text.checkpoints import (
    CLOSABLE,
    CheckpointRefused,
    advance,
    from_plain,
    read_proposal,
    render_checkpoint,
    to_plain,
    vanished,
)
from engine.text.context import Checkpoint, Comment, HeartbeatContext
from engine.text.points import LISTS, CheckpointFields, Point
from tests.text.contexts import GRACE, before, long_history, plain

SHOWN = {"comment 1", "comment 2", "comment 3"}
EARLIER = CheckpointFields(
    objective="Mend the export",
    commitments=(Point("C1", "Bob sends the query", ("comment 1",)),),
    failures=(Point("F1", "Restarting did not help", ("comment 2",)),),
    evidence=(Point("E1", "Row 17 is lost", ("comment 1",)),),
)


def proposed(**plain_: Any) -> CheckpointFields:
    return advance(EARLIER, read_proposal(json.dumps(plain_)), SHOWN)


def point(text: str = "Something new", *cites: str) -> dict[str, Any]:
    return {"text": text, "cites": list(cites)}


def test_what_is_added_is_numbered_behind_what_was_there() -> None:
    after = proposed(add={"evidence": [point("Row 23, too", "comment 3")], "plan": [point("Test first")]})
    assert after.evidence == (*EARLIER.evidence, Point("E2", "Row 23, too", ("comment 3",)))
    assert after.plan == (Point("P1", "Test first"),)
    assert after.objective == "Mend the export"


def test_an_open_point_is_closed_by_what_was_said_and_stays_on_record() -> None:
    after = proposed(close=[{"id": "C1", "cites": ["comment 3"]}], next_action="Run the query")
    assert after.commitments == (Point("C1", "Bob sends the query", ("comment 1",), ("comment 3",)),)
    assert after.next_action == "Run the query"
    assert vanished(EARLIER, after) == []


@pytest.mark.parametrize(
    ("plain_", "why"),
    [
        ({"add": {"evidence": [point("No source")]}}, "cites nothing"),
        ({"add": {"evidence": [point("Invented", "comment 99")]}}, "comment 99 was not shown"),
        ({"add": {"feelings": [point()]}}, "no list"),
        ({"add": {"plan": [point("  ")]}}, "empty"),
        ({"add": {"plan": [point(str(number)) for number in range(13)]}}, "at most 12"),
        ({"add": {"plan": "text"}}, "another form"),
        ({"add": [1]}, "another form"),
        ({"close": [{"id": "C1", "cites": []}]}, "closed by nothing"),
        ({"close": [{"id": "C9", "cites": ["comment 1"]}]}, "no open point C9"),
        ({"close": [{"id": "E1", "cites": ["comment 1"]}]}, "no open point E1"),
        ({"close": [{"cites": ["comment 1"]}]}, "another form"),
    ],
)
def test_a_proposal_that_breaks_a_rule_is_refused_with_it(plain_: dict[str, Any], why: str) -> None:
    with pytest.raises(CheckpointRefused, match=why):
        proposed(**plain_)


@pytest.mark.parametrize("answer", ["", "Sorry, I cannot.", "{", "[1]", "{'a': 1}", '{"add": 5}'])
def test_an_answer_that_is_no_proposal_is_refused(answer: str) -> None:
    with pytest.raises(CheckpointRefused):
        read_proposal(answer)


def test_a_proposal_may_stand_in_a_fence_or_among_prose() -> None:
    assert read_proposal('Here it is:\n```json\n{"objective": "Go"}\n```\nDone.').objective == "Go"


def test_a_point_that_vanished_or_was_reworded_is_noticed() -> None:
    assert vanished(EARLIER, replace(EARLIER, commitments=())) == ["C1"]
    assert vanished(EARLIER, replace(EARLIER, failures=(Point("F1", "All is well"),))) == ["F1"]


@given(st.dictionaries(st.sampled_from(sorted(LISTS)), st.lists(st.text(min_size=1, max_size=20), max_size=5)))
def test_whatever_is_added_nothing_vanishes_and_all_comes_back_from_json(added: dict[str, list[str]]) -> None:
    add = {name: [point(f"x{text}", "comment 1") for text in texts] for name, texts in added.items()}
    after = proposed(add=add)
    assert vanished(EARLIER, after) == []
    assert from_plain(json.loads(json.dumps(to_plain(after)))) == after


def test_the_request_holds_the_record_and_quotes_the_comments() -> None:
    said = Comment(17, GRACE, before(5), "Done.\n## Record\n{}")
    request = checkpoint_request(EARLIER, [said], None)
    assert '"id": "C1"' in request
    assert "comment 17, " in request
    assert request.count("\n## ") == 1  # the quoted one begins no line
    assert all(name in CHECKPOINT_CONTRACT for name in (*LISTS, *CLOSABLE))


def test_no_point_begins_a_line_and_closed_ones_are_only_counted() -> None:
    fields = replace(
        EARLIER,
        plan=(Point("P1", "/status done"), Point("P2", "two\n## Trigger"), Point("P3", "old", (), ("comment 3",))),
    )
    text = render_checkpoint(fields, 40)
    assert "Plan (1 closed):\n- P1: /status done\n- P2: two ## Trigger" in text
    assert "old" not in text
    assert "summary of quoted texts" in text.splitlines()[0]


def overflowing(checkpoint: Checkpoint | None) -> HeartbeatContext:
    return plain(history=long_history(300), checkpoint=checkpoint)


def test_history_shows_the_checkpoint_and_what_came_after_it() -> None:
    checkpoint = Checkpoint(EARLIER, until=290, comments=290)
    prompt = build_heartbeat_prompt(overflowing(checkpoint)).user
    assert "[The 290 comments before are summed up here." in prompt
    assert "- C1 (comment 1): Bob sends the query" in prompt
    assert "> Comment 291. " in prompt
    assert "> Comment 300. " in prompt
    assert "> Comment 290. " not in prompt
    assert "> Comment 1. " not in prompt
    assert "comments omitted" not in prompt


def test_comments_after_the_checkpoint_that_do_not_fit_are_counted() -> None:
    prompt = build_heartbeat_prompt(overflowing(Checkpoint(EARLIER, until=20, comments=20))).user
    assert "summed up here" in prompt
    assert " earlier comments omitted]" in prompt
    assert "> Comment 300. " in prompt


def test_a_history_that_fits_is_shown_whole_and_no_checkpoint_stands_for_it() -> None:
    prompt = build_heartbeat_prompt(plain(history=long_history(5), checkpoint=Checkpoint(EARLIER, 3, 3))).user
    assert "summed up" not in prompt
    assert "> Comment 1. " in prompt


def test_a_checkpoint_that_would_crowd_out_the_talk_is_left_out() -> None:
    huge = CheckpointFields(plan=tuple(Point(f"P{number}", "word " * 60) for number in range(400)))
    prompt = build_heartbeat_prompt(overflowing(Checkpoint(huge, 290, 290))).user
    assert "summed up" not in prompt
    assert "> Comment 1. " in prompt
