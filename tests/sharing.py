"""How a run's tests are shared out among its processes: whole files, and the longest first, so that none is left alone
with a long one at the end."""

from __future__ import annotations

from collections import defaultdict

import pytest

SECONDS = {"slow": 10.0, "browser": 0.8}
"""About what a test takes that has such a mark; others take hundredths."""


def put_longest_first(items: list[pytest.Item]) -> None:
    """Sort the tests by what their files take in all; within a file they keep their order."""
    seconds: dict[object, float] = defaultdict(float)
    for item in items:
        seconds[item.path] += seconds_of(item)
    items.sort(key=lambda item: -seconds[item.path])


def seconds_of(item: pytest.Item) -> float:
    """About what the test takes."""
    return next((seconds for mark, seconds in SECONDS.items() if item.get_closest_marker(mark)), 0.05)
