"""What repeats from run to run repeats byte for byte, so that providers can keep it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from engine.prompt import build_heartbeat_prompt
from engine.text.context import HeartbeatContext, Limits, PastAction, Scenario, Trigger, Wakeup
from tests.text.contexts import BOB, GRACE, LINUS, NOW, assignment, comment, long_history, plain, rich, routing

OTHER_ISSUE = assignment(
    identifier="ACME-40", title="Another thing", is_own=False, assignee=BOB, description="Text " * 900, status="todo"
)


def elsewhere(context: HeartbeatContext) -> HeartbeatContext:
    """The same agent at another time, on another issue, woken by something else."""
    return replace(
        context,
        now=NOW + timedelta(days=3, minutes=7),
        assignment=OTHER_ISSUE,
        scenario=Scenario.REPLY,
        trigger=Trigger(
            (Wakeup(99, "mention", "mentioned you", LINUS, text="Look.", text_author=LINUS, comment=77),), 3
        ),
        history=long_history(60),
        pinned=(comment(70, GRACE, "Pinned here.", pinned=True),),
        past_actions=(PastAction("status", "fine", "failed", "no such status"),),
        limits=Limits(is_last_run=True),
    )


@pytest.mark.parametrize("context", [plain(), rich(), routing()], ids=["plain", "rich", "routing"])
def test_all_up_to_the_skills_depends_on_neither_issue_nor_trigger_nor_clock(context: HeartbeatContext) -> None:
    here, there = build_heartbeat_prompt(context), build_heartbeat_prompt(elsewhere(context))
    assert here.system == there.system
    until = here.breakpoints[2].offset
    assert there.breakpoints[2].offset == until
    assert here.user[:until] == there.user[:until]
    assert here.user[until:] != there.user[until:]


def test_a_minute_later_only_the_last_line_differs() -> None:
    here, later = build_heartbeat_prompt(plain()), build_heartbeat_prompt(plain(now=NOW + timedelta(minutes=1)))
    assert here.user.split("\n")[:-1] == later.user.split("\n")[:-1]
    assert here.user != later.user


def test_breakpoints_stand_after_contract_role_skills_and_history() -> None:
    prompt = build_heartbeat_prompt(rich())
    ends = {section.title: (section.message, section.end) for section in prompt.sections}
    assert [(point.message, point.offset) for point in prompt.breakpoints] == [
        ends["Contract"],
        ends["Knowledge"],
        ends["Available Skills"],
        ends["Conversation History"],
    ]
    assert len(prompt.system) == ends["Knowledge"][1]


def test_without_skills_and_history_breakpoints_stand_where_those_would_be() -> None:
    prompt = build_heartbeat_prompt(plain())
    ends = {section.title: section.end for section in prompt.sections}
    assert [point.offset for point in prompt.breakpoints[2:]] == [ends["You"], ends["Description"]]


def test_a_breakpoint_tells_how_much_is_read_until_there() -> None:
    prompt = build_heartbeat_prompt(rich())
    sizes = {section.title: section.tokens for section in prompt.sections}
    contract, role, skills, history = (point.tokens for point in prompt.breakpoints)
    assert contract == sizes["Contract"]
    assert role == sum(section.tokens for section in prompt.sections if section.message == "system")
    assert skills == role + sizes["You"] + sizes["Available Skills"]
    assert skills < history < prompt.tokens
