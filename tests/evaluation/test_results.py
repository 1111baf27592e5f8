"""What is made of trials: lines, sums, JSON and back, and whether a difference is more than chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.evaluation.results import Results, as_json, as_table, as_words, by_scenario, compare, from_json, sign_test
from engine.evaluation.trial import Trial

TRIAL = Trial("small_file", (), "", 2, 0, 0, 0, 1_000, 400, 50, 1_500, 2.0)
BROKEN = replace(TRIAL, broken=("the issue stands at done",), denied=1, seconds=4.0)


def results(*outcomes: tuple[str, bool], player: str = "one") -> Results:
    return Results(player, tuple(replace(TRIAL if passed else BROKEN, scenario=name) for name, passed in outcomes))


def test_repeats_of_a_scenario_are_one_line() -> None:
    (line,) = by_scenario(Results("one", (TRIAL, BROKEN)))
    assert (line.trials, line.succeeded, line.denied, line.input_tokens, line.cached_tokens) == (2, 1, 1, 2_000, 800)
    assert (line.microdollars, line.seconds) == (3_000, 3.0)


def test_a_cost_that_is_not_known_makes_the_sum_unknown() -> None:
    (line,) = by_scenario(Results("one", (TRIAL, replace(TRIAL, microdollars=None))))
    assert line.microdollars is None


def test_the_table_tells_the_sum_and_what_was_not_so() -> None:
    table = as_table(Results("one", (TRIAL, BROKEN)))
    assert "in all" in table
    assert "1/2" in table
    assert "$0.0030" in table
    assert "- small_file, not so 1 times: the issue stands at done" in table


def test_results_come_back_from_json_as_they_were() -> None:
    before = Results("one", (TRIAL, BROKEN))
    assert from_json(as_json(before)) == before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"player": "x", "trials": [{"scenario": 1}]}'])
def test_what_is_no_result_is_said_so(text: str) -> None:
    with pytest.raises(ValueError, match="no results"):
        from_json(text)


@pytest.mark.parametrize(
    ("better", "worse", "p"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (3, 3, 1.0), (8, 2, 0.109375)]
)
def test_the_sign_test_is_that_of_fair_coins(better: int, worse: int, p: float) -> None:
    assert sign_test(better, worse) == pytest.approx(p)
    assert sign_test(worse, better) == pytest.approx(p)


def test_two_players_are_compared_where_both_have_played() -> None:
    first = results(("a", False), ("b", True), ("c", True), ("d", True))
    second = results(("a", True), ("b", False), ("c", True), ("e", True), player="two")
    found = compare(first, second)
    assert (found.better, found.worse, found.equal) == (("a",), ("b",), 1)
    assert "better in 1: a" in as_words(first, second)
