"""Where to find the tests of what a user can do: each says in its docstring which point or keys it shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.servers import ROOT

POINTS = {
    1: "find an issue by number or words, in a company of 5,000",
    2: "move a card by mouse, by keyboard and on a phone",
    3: "get a refused move back in its place, with the reason",
    4: "edit every field in place, and choose when somebody else changed it, too",
    5: "lose no typed comment",
    6: "undo a move, an assignment, a bulk edit, with all they caused",
    7: "paste or drop a file, see its progress, be told why not",
    8: "edit or delete the own comment",
    9: "filter, keep a filter as a view, share it",
    10: "change many at once, and see which failed and why",
    11: "read like changes as one, hide agents' noise",
    12: "stop a run from its issue, break a checkout",
    13: "see another's change within 2 s, undisturbed; see a lost stream",
    14: "log in, read, comment, change the status and approve without scripts",
    15: "use every page with any means (axe-core, keyboard alone, focus)",
    16: "use every page at 360 px",
    17: "see relative times with the exact one in the own zone",
    18: "learn from every error what happened, what was kept, what to do",
}
"""What a user can do, by number."""


def said_by_tests(pattern: str) -> set[str]:
    """What the docstrings of this folder's tests say after such a word."""
    found: set[str] = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for words in re.findall(pattern, ast.get_docstring(node) or ""):
                    found |= set(re.split(r", | and ", words))
    return found


@pytest.mark.parametrize("point", POINTS)
def test_each_point_has_a_test_that_says_so(point: int) -> None:
    assert str(point) in said_by_tests(r"Points? ([\d, and]*\d)"), POINTS[point]


def test_each_key_of_the_list_of_keys_has_a_test_that_says_so() -> None:
    listed = set(re.findall(r"<kbd>([^<]+)</kbd>", (ROOT / "templates/parts/shortcuts.html").read_text()))
    assert len(listed) >= 20
    assert listed - said_by_tests(r"Keys: (.*?)\.(?:\s|$)") == set()
