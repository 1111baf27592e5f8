"""The public conformance cases of mentions."""

from typing import Any

import pytest

from engine.mentions import find_mentions
from tests import check_parser
from tests.corpora import cases

CASES = cases("mention_cases_public")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_text_of_the_corpus_mentions_whom_it_should(case: dict[str, Any]) -> None:
    differences = check_parser.check_mentions(find_mentions, case, "exact")
    assert not differences, case["why"] + "\n" + "\n".join(differences)
