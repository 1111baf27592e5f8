"""A prompt never exceeds the model's room, and what is cut or deferred is said."""

from __future__ import annotations

import copy
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.meters import meter_for
from engine.prompt import HeartbeatPrompt, PromptTooLarge, build_heartbeat_prompt
from engine.text.context import (
    Attachment,
    Child,
    Colleague,
    HeartbeatContext,
    History,
    IssueLine,
    Limits,
    Materials,
    Skill,
    Tier,
    Trigger,
    Wakeup,
)
from engine.text.fitting import Fitting, fit_texts
from engine.text.history import fit_timeline, shorten, timeline_of
from engine.text.packing import Part, pack, user_room
from engine.text.parts import deferrable_parts
from engine.text.sections import USER_SECTIONS
from tests.text.contexts import (
    ADA,
    BOB,
    GRACE,
    SMALL_WINDOW,
    assignment,
    before,
    comment,
    long_history,
    plain,
    rich,
    routing,
)

METER = meter_for("")


def by_words(text: str) -> int:
    """A cheap meter for what does not depend on how tokens are counted."""
    return len(text) // 4 + 1


def overflowing(**changes: object) -> HeartbeatContext:
    """More of everything than any prompt holds."""
    children = tuple(
        Child(
            IssueLine(f"ACME-{n}", f"Part {n}", "done", BOB), before(n), newest_comment=comment(n, BOB, "Done. " * 900)
        )
        for n in range(100, 140)
    )
    skills = tuple(Skill(f"skill-{n}", f"How part {n} is done", f"Step {n}. " * 700) for n in range(12))
    everything: dict[str, object] = {
        "assignment": assignment(description="Every row counts. " * 3_000),
        "history": long_history(900, 1_200),
        "skills": skills,
        "children": children,
        "materials": Materials((Attachment("log.txt", "text/plain", 90_000, "line of a log\n" * 6_000),)),
    }
    return rich(**everything | changes)


def section(prompt: HeartbeatPrompt, title: str) -> str:
    found = next(section for section in prompt.sections if section.title == title and not section.is_deferred)
    return prompt.user[found.start : found.end]


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        SMALL_WINDOW,
        Limits(window=32_000, max_output=8_000),
        Limits(window=1_000_000, max_output=64_000),
        Limits(prompt_budget=4_000),
        Limits(window=1_000_000, prompt_budget=200_000),
    ],
)
@pytest.mark.parametrize("tier", Tier)
def test_an_overflowing_issue_stays_within_room_and_budget(limits: Limits, tier: Tier) -> None:
    context = overflowing(limits=limits, tier=tier, skills=overflowing().skills[:3] if limits.window < 9_000 else ())
    if limits.window < 9_000:
        context = replace(context, pinned=(), trigger=Trigger(), tier=Tier.LEAN)
    prompt = build_heartbeat_prompt(context)
    size = METER.guard(prompt.user)
    assert size <= user_room(limits, METER.guard(prompt.system))
    assert size <= max(limits.prompt_budget, 5_000)
    assert all(section.is_whole for section in prompt.sections if section.title in ("You", "Your Assignment"))


def test_the_order_of_sections_never_changes() -> None:
    for budget in range(2_000, 40_000, 3_000):
        prompt = build_heartbeat_prompt(overflowing(limits=Limits(prompt_budget=budget)))
        shown = [s.title for s in prompt.sections if s.message == "user" and not s.is_deferred]
        assert shown == [title for title in USER_SECTIONS if title in shown]


def test_deferred_sections_are_named_on_the_last_line() -> None:
    prompt = build_heartbeat_prompt(overflowing(limits=Limits(prompt_budget=2_000)))
    last = prompt.user.split("\n")[-1]
    assert last == f"[+{len(prompt.deferred)} sections deferred] {', '.join(prompt.deferred)}"
    assert {s.title for s in prompt.sections if s.is_deferred} == set(prompt.deferred)
    assert "Available Skills" in prompt.deferred


def test_what_does_not_fit_at_all_is_refused_with_its_sizes() -> None:
    pins = tuple(comment(n, GRACE, "Pinned and whole. " * 1_000, pinned=True) for n in range(40))
    with pytest.raises(
        PromptTooLarge, match=r"The prompt needs [\d,]+ tokens of [\d,]+: Pinned Context [\d,]+"
    ) as caught:
        build_heartbeat_prompt(plain(pinned=pins))
    assert caught.value.sizes["Pinned Context"] > 100_000


def test_what_must_be_there_may_exceed_the_budget_but_not_the_room() -> None:
    pins = tuple(comment(n, GRACE, "Pinned and whole. " * 1_000, pinned=True) for n in range(4))
    prompt = build_heartbeat_prompt(plain(pinned=pins, limits=Limits(prompt_budget=4_000)))
    assert prompt.user.count("Pinned and whole.") == 4_000
    assert prompt.deferred == ("Description",)


def test_a_short_part_leaves_its_room_to_a_long_one() -> None:
    alone = build_heartbeat_prompt(plain(history=long_history(400, 800)))
    assert METER.guard(section(alone, "Conversation History")) > 0.6 * 24_000
    crowded = build_heartbeat_prompt(overflowing(history=long_history(400, 800)))
    assert METER.guard(section(crowded, "Conversation History")) < 0.3 * 24_000


def test_a_long_neighbour_crowds_nobody_out() -> None:
    prompt = build_heartbeat_prompt(overflowing())
    assert prompt.deferred == ()
    assert section(prompt, "Child Issues").count("### ACME-") >= 10
    assert "characters cut]" in section(prompt, "Description")


# History


def test_an_overflowing_history_keeps_the_first_comment_and_the_newest() -> None:
    text = section(build_heartbeat_prompt(plain(history=long_history(500))), "Conversation History")
    shown = [int(number) for number in re.findall(r"Comment (\d+)\.", text)]
    assert shown[0] == 1
    assert shown[1:] == list(range(shown[1], 501))
    assert f"\n\n[{500 - len(shown)} earlier comments omitted]\n\n" in text


def test_a_long_comment_is_cut_only_when_history_exceeds_its_share() -> None:
    long = comment(1, BOB, "word " * 1_000)
    calm = build_heartbeat_prompt(plain(history=History((long,))))
    assert "characters cut" not in calm.user
    entries = (long, *long_history(500).entries)
    crowded = build_heartbeat_prompt(plain(history=History(entries)))
    assert "[3,0" in section(crowded, "Conversation History").split("omitted")[0]


@given(
    lengths=st.lists(st.integers(min_value=1, max_value=6_000), min_size=2, max_size=40),
    allowance=st.integers(min_value=60, max_value=6_000),
)
def test_at_a_fixed_share_a_new_comment_brings_no_older_one_back(lengths: list[int], allowance: int) -> None:
    # Ids count from 1, as those of rows do.
    entries = tuple(comment(n + 1, ADA, f"c{n} " + "x " * (length // 2)) for n, length in enumerate(lengths))
    shown: set[int] = set()
    for count in range(1, len(entries) + 1):
        fitting = fit_timeline(timeline_of(History(entries[:count]), {}, None), allowance=allowance, measure=by_words)
        now = {int(n) for n in re.findall(r"> c(\d+)", fitting.text)} if fitting else set()
        if count > 1:
            assert now - {count - 1} <= shown | {0}
        assert fitting is None or fitting.size <= allowance
        shown = now


def test_all_but_the_newest_thousand_entries_are_never_looked_at() -> None:
    history = long_history(3_000, 20)
    short = shorten(history)
    assert len(short.entries) == 1_001
    assert short.entries[0] is history.entries[0]
    assert short.left_out == 1_999
    assert shorten(short) == short or shorten(short).left_out >= short.left_out


# Trigger


def wakeup(number: int, text: str) -> Wakeup:
    return Wakeup(number, "mention", "mentioned you", GRACE, text=text, text_author=GRACE, comment=number)


def test_a_triggering_text_stays_whole_to_eight_thousand_characters() -> None:
    whole = build_heartbeat_prompt(plain(trigger=Trigger((wakeup(1, "w" * 8_000),))))
    assert "w" * 8_000 in whole.user
    cut = build_heartbeat_prompt(plain(trigger=Trigger((wakeup(1, "v" * 8_001),))))
    assert "characters cut]" in section(cut, "Trigger")


def test_wakeups_that_do_not_fit_are_counted_and_stay_pending() -> None:
    wakeups = tuple(wakeup(number, f"w{number} " + "text " * 900) for number in range(1, 6))
    history = History(tuple(comment(w.id, GRACE, w.text) for w in wakeups))
    prompt = build_heartbeat_prompt(plain(trigger=Trigger(wakeups), history=history))
    assert prompt.delivered == (4, 5)
    assert "Wakeups that wait for the next run: 3." in section(prompt, "Trigger")
    assert "> w3 text" in section(prompt, "Conversation History")
    assert "> w4 text" not in section(prompt, "Conversation History")
    assert len(section(prompt, "Trigger")) <= 12_200


def test_in_a_small_window_the_trigger_takes_half_the_room_at_most() -> None:
    context = plain(trigger=Trigger((wakeup(1, "text " * 1_600),)), limits=SMALL_WINDOW, tier=Tier.LEAN)
    prompt = build_heartbeat_prompt(context)
    room = user_room(SMALL_WINDOW, METER.guard(prompt.system))
    assert prompt.delivered == (1,)
    assert METER.guard(section(prompt, "Trigger")) <= room // 2 + 20
    assert "characters cut]" in section(prompt, "Trigger")


# Skills


SKILLS = (
    Skill("release-notes", "How release notes are written", "Notes. " * 5_000),
    Skill("export-checks", "How exports are checked", "Count rows. " * 2_000),
    Skill("tone", "How we write", "Plainly. " * 200),
)


def test_too_many_skills_keep_the_relevant_ones_whole_and_the_others_by_name() -> None:
    prompt = build_heartbeat_prompt(plain(skills=SKILLS))
    assert prompt.whole_skills == ("export-checks", "tone")
    assert "- release-notes: How release notes are written" in section(prompt, "Available Skills")
    assert prompt.user.index("### export-checks") < prompt.user.index("### tone")


def test_a_skill_that_was_asked_for_comes_whole_before_more_relevant_ones() -> None:
    skills = tuple(replace(skill, body="Rows. " * 4_500) for skill in SKILLS)
    assert build_heartbeat_prompt(plain(skills=skills)).whole_skills == ("export-checks",)
    assert build_heartbeat_prompt(plain(skills=skills, asked_skills=("Tone",))).whole_skills == ("tone",)


def test_skills_that_fit_half_of_the_room_come_whole_however_long_the_issue() -> None:
    skills = tuple(replace(skill, body="Rows. " * 800) for skill in SKILLS)
    calm, crowded = (build_heartbeat_prompt(context) for context in (plain(skills=skills), overflowing(skills=skills)))
    assert calm.whole_skills == crowded.whole_skills == ("release-notes", "export-checks", "tone")


# Routing


def test_a_long_roster_drops_descriptions_before_people() -> None:
    roster = tuple(
        Colleague(replace(BOB, handle=f"bob{n}"), "engineer", f"Engineer {n}", "What they do. " * 20) for n in range(60)
    )
    prompt = build_heartbeat_prompt(routing(roster=roster, limits=Limits(prompt_budget=8_000)))
    text = section(prompt, "Team Roster")
    assert text.count("(@bob") == 60
    assert "What they do." not in text


# Packing itself


def test_packing_changes_nothing_that_it_is_given() -> None:
    context = overflowing()
    kept = copy.deepcopy(context)
    build_heartbeat_prompt(context)
    assert context == kept


def test_the_shares_of_all_parts_sum_to_one() -> None:
    context = overflowing(
        agent=routing().agent, roster=routing().roster, capabilities=routing().capabilities, hint="Hint"
    )
    parts = tuple(deferrable_parts(context, (), (), by_words))
    assert len(parts) == 9
    assert sum(part.share for part in parts) == pytest.approx(1.0)


@given(
    room=st.integers(min_value=-100, max_value=5_000), lengths=st.lists(st.integers(1, 9_000), min_size=1, max_size=6)
)
@settings(max_examples=60)
def test_packed_parts_never_exceed_the_room(room: int, lengths: list[int]) -> None:
    def part(place: int, length: int) -> Part:
        text = "x" * length

        def fit(allowance: int) -> Fitting | None:
            return fit_texts(
                lambda limit: text[:limit], longest=length, least=min(40, length), allowance=allowance, measure=by_words
            )

        return Part(f"part {place}", 90 - place, 1 / len(lengths), fit)

    packed = pack([part(place, length) for place, length in enumerate(lengths)], room)
    assert sum(by_words(fitting.text) for fitting in packed.values()) <= max(room, 0)


@settings(max_examples=25, deadline=None)
@given(
    window=st.sampled_from([8_192, 16_000, 32_000, 128_000]),
    budget=st.integers(min_value=2_000, max_value=40_000),
    comments=st.integers(min_value=0, max_value=60),
    length=st.integers(min_value=1, max_value=5_000),
    description=st.text(max_size=4_000),
    pin=st.text(min_size=1, max_size=400),
)
def test_any_issue_stays_within_the_room_and_keeps_assignment_pins_and_trigger(
    window: int, budget: int, comments: int, length: int, description: str, pin: str
) -> None:
    context = rich(
        tier=Tier.LEAN,
        limits=Limits(window=window, prompt_budget=budget),
        history=long_history(comments, length),
        assignment=assignment(description=description),
        pinned=(comment(500, GRACE, f"[{pin}]", pinned=True),),
    )
    prompt = build_heartbeat_prompt(context)
    assert METER.guard(prompt.user) <= user_room(context.limits, METER.guard(prompt.system))
    whole = {section.title: section.is_whole for section in prompt.sections}
    assert whole["Your Assignment"]
    assert whole["Pinned Context"]
    assert whole["Trigger"]
    assert prompt.delivered == (7, 8)
