"""The generated page on verbs."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.reference import verbs_page
from engine.verbs.base import Verb
from engine.verbs.registry import VERBS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "verbs.md"


def test_the_page_says_what_the_verbs_say() -> None:
    assert PAGE.read_text() == verbs_page(VERBS), "`make docs` writes it anew"


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_each_verb_has_its_usage_and_example_there(verb: Verb) -> None:
    page = verbs_page(VERBS)
    assert f"`{verb.usage}`" in page
    assert verb.example in page
