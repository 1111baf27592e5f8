"""No shape of text costs more than time in proportion to its length.

Nothing is timed. The first test counts the lines of Python that run; what the regular expressions do is not seen by
that, so the second reads texts so long that square time would take minutes, and leaves it to the time-out of a test.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from benchmarks.parser import MENTION_SHAPES, REPLY_SHAPES, parse_reply, read_mentions_of

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


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("work", "unit"), SHAPES)
def test_a_text_of_two_megabytes_is_read_before_square_time_would_have_begun(work: Work, unit: str) -> None:
    work(unit, 2_000_000)()
