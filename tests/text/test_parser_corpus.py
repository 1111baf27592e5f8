"""The public conformance cases of the reply protocol."""

from typing import Any

import pytest

from engine.text.parser import parse
from tests import check_parser
from tests.corpora import cases
from tests.text.verb_table import VERB_TABLE

CASES = cases("parser_cases_public")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_reply_of_the_corpus_is_taken_apart_as_expected(case: dict[str, Any]) -> None:
    differences = check_parser.check_parser(lambda reply: parse(reply, VERB_TABLE), case, "exact")
    assert not differences, case["why"] + "\n" + "\n".join(differences)
