"""Thinking that is written into an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.adapters.reasoning import visible_text

CASES = [
    ("nothing to take out", "Plain.\n\nText.\n", "Plain.\n\nText.\n"),
    ("a block at the start", "<think>\nHm.\n/status done\n</think>\n\nAnswer.\n/pass", "Answer.\n/pass"),
    ("every tag", "<Thinking>a</Thinking>\n<reasoning>\nb\n</reasoning>\nAnswer.", "Answer."),
    ("an answer on the line of the closing tag", "<think>a</think> Answer.", " Answer."),
    ("two blocks on one line", "<think>a</think><think>b</think>Answer.", "Answer."),
    ("one that is never closed", "Before.\n<think>\nHm.\n/status done", "Before."),
    ("nothing but thinking", "<think>Hm.", ""),
    ("a closing tag that nothing opened", "Hm.\n/status done\n</think>\n\nAnswer.", "Answer."),
    ("a block in the middle", "One.\n\n<think>\nHm.\n</think>\n\n\nTwo.\n\n\nThree.", "One.\n\nTwo.\n\n\nThree."),
    ("a tag in mid-line", "I wrote `<think>` there.\n</p></think>", "I wrote `<think>` there.\n</p></think>"),
    ("a tag in a fence", "```\n<think>\nx\n</think>\n```\nEnd.", "```\n<think>\nx\n</think>\n```\nEnd."),
    (
        "a nested fence",
        "~~~\n~~~ a\n<think>\n~~~\n</think>\n~~~\nEnd.",
        "~~~\n~~~ a\n<think>\n~~~\n</think>\n~~~\nEnd.",
    ),
    ("a fence inside a list", "- ```\n<think>\n  ```\n", "- ```\n<think>\n  ```\n"),
    ("a shorter fence does not close", "````\n```\n<think>\n````\nEnd.", "````\n```\n<think>\n````\nEnd."),
    ("an open fence inside the thinking", "<think>\n```\n</think>\nAnswer.\n<think>x</think>", "Answer."),
    ("a tag in a comment", "<!--\n<think>\n-->\nEnd.", "<!--\n<think>\n-->\nEnd."),
    ("a tag in a raw block", "<pre>\n<think>\n</pre>\nEnd.", "<pre>\n<think>\n</pre>\nEnd."),
    ("a raw block of one line", "<pre>x</pre>\n<think>Hm.</think>\nEnd.", "<pre>x</pre>\nEnd."),
    ("an indented tag and line ends of Windows", "  <think>\r\nHm.\r\n</think>\r\n\r\nAnswer.\r\n", "Answer.\r"),
]


@pytest.mark.parametrize(("text", "visible"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_only_the_thinking_goes(text: str, visible: str) -> None:
    assert visible_text(text) == visible


PARTS = st.sampled_from(
    ["<think>", "</think>", "<reasoning>", "</reasoning>", "```", "~~~", "<!--", "-->", "\n", " ", "a", "/pass"]
)


@given(st.lists(PARTS).map("".join))
def test_what_is_left_is_part_of_the_answer_in_its_order(text: str) -> None:
    left = iter(text)
    assert all(character in left for character in visible_text(text))


@given(st.text())
def test_no_text_makes_it_fail(text: str) -> None:
    visible_text(text)
