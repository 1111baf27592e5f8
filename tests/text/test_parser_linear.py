"""No shape of text costs more than time in proportion to its length.

Nothing is timed. The first test counts the lines of Python that run; what the regular expressions do is not seen by
that, so the second reads texts so long that square time would take minutes, and leaves it to the time-out of a test.
"""

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import pytest

from benchmarks.parser import MENTION_SHAPES, REPLY_SHAPES, parse_reply, read_mentions_of, text_of
from engine.actions import parse_agent_actions

BEGINNINGS: Mapping[str, str] = {
    "an unclosed fence": "/write-file a\n```\n",
    "an unclosed fence on a verb line": "/write-file a ```\n",
    "a wide fence": f"/write-file a\n{'`' * 500}\n",
    "an unclosed think": "<think>\n",
    "an unclosed comment": "<!--\n",
    "a body verb that waits": "/write-file a\n",
}
"""What a reply may begin with so that all that follows is read differently: each goes before every shape."""

Work = Callable[[str, int], Callable[[], object]]
SHAPES = [
    *(pytest.param(parse_reply, unit, id=f"reply of {name}") for name, unit in REPLY_SHAPES.items()),
    *(pytest.param(read_mentions_of, unit, id=f"text of {name}") for name, unit in MENTION_SHAPES.items()),
]


def count_steps(work: Callable[[], object]) -> int:
    """How many lines of Python, calls and returns `work` takes."""
    steps = 0

    def count(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize(("work", "unit"), SHAPES)
def test_eight_times_the_text_takes_at_most_eight_times_the_steps(work: Work, unit: str) -> None:
    few = count_steps(work(unit, 4_000))
    many = count_steps(work(unit, 32_000))
    assert many <= 8 * few * 1.1


@pytest.mark.parametrize("unit", REPLY_SHAPES.values(), ids=REPLY_SHAPES.keys())
@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS.keys())
def test_so_it_is_whatever_the_reply_began_with(beginning: str, unit: str) -> None:
    few = count_steps(lambda: parse_agent_actions(beginning + text_of(unit, 2_000)))
    many = count_steps(lambda: parse_agent_actions(beginning + text_of(unit, 16_000)))
    assert many <= 8 * few * 1.1


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("work", "unit"), SHAPES)
def test_a_text_of_two_megabytes_is_read_before_square_time_would_have_begun(work: Work, unit: str) -> None:
    work(unit, 2_000_000)()
