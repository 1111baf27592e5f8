"""The difference between two runs' prompts, as the run page shows it."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

from hypothesis import given
from hypothesis import strategies as st

from engine.prompt import HeartbeatPrompt, build_heartbeat_prompt
from engine.text.differences import (
    MOST_LINES,
    Change,
    Line,
    LineKind,
    PromptSection,
    SectionChange,
    diff_prompts,
    kept_sections,
)
from engine.text.sections import section_text
from tests.text.contexts import plain, rich

LINES = st.lists(st.sampled_from(["a", "b", "c", "> d", ""]), max_size=30)


def kept(prompt: HeartbeatPrompt) -> tuple[PromptSection, ...]:
    """The sections as a run keeps them."""
    return kept_sections(prompt.system, prompt.user, [asdict(section) for section in prompt.sections])


def changed(before: str, after: str) -> SectionChange:
    (change,) = diff_prompts([PromptSection("History", "user", before)], [PromptSection("History", "user", after)])
    return change


def test_kept_sections_are_those_that_were_sent() -> None:
    prompt = build_heartbeat_prompt(rich())
    for section in kept(prompt):
        assert section_text(section.title, section.text) in getattr(prompt, section.message)


def test_a_prompt_does_not_differ_from_itself() -> None:
    sections = kept(build_heartbeat_prompt(rich()))
    assert {change.change for change in diff_prompts(sections, sections)} == {Change.SAME}
    assert all(change.lines == () for change in diff_prompts(sections, sections))


def test_only_what_changed_is_told_and_sections_stand_in_the_order_of_the_later_prompt() -> None:
    before, after = plain(), rich()
    after = replace(after, agent=before.agent)
    old, new = kept(build_heartbeat_prompt(before)), kept(build_heartbeat_prompt(after))
    changes = {change.title: change.change for change in diff_prompts(old, new)}
    assert list(changes) == [section.title for section in new]
    assert changes["Contract"] is Change.SAME
    assert changes["Your Assignment"] is Change.CHANGED
    assert changes["Child Issues"] is Change.ADDED


def test_a_section_that_is_gone_stands_where_it_was() -> None:
    before = kept(build_heartbeat_prompt(rich()))
    after = kept(build_heartbeat_prompt(rich(children=())))
    changes = diff_prompts(before, after)
    titles = [change.title for change in changes]
    assert titles == [section.title for section in before]
    gone = changes[titles.index("Child Issues")]
    assert (gone.change, gone.size_after) == (Change.REMOVED, 0)
    assert {line.kind for line in gone.lines} == {LineKind.REMOVED}


def test_equal_lines_far_from_a_change_are_counted() -> None:
    text = "\n".join(str(number) for number in range(40))
    lines = changed(text, text.replace("\n20\n", "\ntwenty\n")).lines
    assert lines == (
        Line(LineKind.GAP, "17 equal lines"),
        *(Line(LineKind.SAME, str(number)) for number in (17, 18, 19)),
        Line(LineKind.REMOVED, "20"),
        Line(LineKind.ADDED, "twenty"),
        *(Line(LineKind.SAME, str(number)) for number in (21, 22, 23)),
        Line(LineKind.GAP, "16 equal lines"),
    )


@given(LINES, LINES)
def test_the_lines_lead_from_the_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    lines = changed("\n".join(before), "\n".join(after)).lines
    old = [line.text for line in lines if line.kind is LineKind.REMOVED]
    new = [line.text for line in lines if line.kind is LineKind.ADDED]
    assert len("\n".join(before).split("\n")) - len(old) <= 30
    assert is_within(old, before)
    assert is_within(new, after)


def is_within(some: list[str], all_: list[str]) -> bool:
    """Whether the lines stand in the others in this order."""
    rest = iter(all_ or [""])
    return all(line in rest for line in some)


def test_long_texts_that_differ_everywhere_are_shown_as_replaced_at_once() -> None:
    before = "\n".join(f"a{number}" for number in range(5 * MOST_LINES))
    started = time.process_time()
    lines = changed(before, before.replace("a", "b")).lines
    assert time.process_time() - started < 5
    assert [line.kind for line in lines[:: 5 * MOST_LINES]] == [LineKind.REMOVED, LineKind.ADDED]
