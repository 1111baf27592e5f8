"""Cards on the board: moving them to another column or place."""

from __future__ import annotations

from functools import partial

import pytest

from issues.actors import Person
from issues.models import Activity, Company, Issue, Status
from issues.refusals import Invalid
from issues.services.board import move_issue
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


def column(company: Company, status: Status = Status.TODO) -> list[str]:
    """The titles of the cards of a column, from above."""
    return list(company.issues.filter(status=status).in_board_order().values_list("title", flat=True))


@pytest.fixture
def cards(company: Company) -> dict[str, Issue]:
    return {title: build.issue(company, title) for title in ("A", "B", "C", "D")}


@pytest.mark.parametrize(
    ("moved", "before", "order"),
    [
        ("D", "A", "DABC"),
        ("D", "B", "ADBC"),
        ("A", "D", "BCAD"),
        ("A", None, "BCDA"),
        ("B", "C", "ABCD"),
        ("D", None, "ABCD"),
    ],
)
def test_a_card_goes_above_another_or_to_the_end(
    moved: str, before: str | None, order: str, company: Company, owner: Person, cards: dict[str, Issue]
) -> None:
    target = cards[before] if before else None
    move_issue(actor=owner, issue=cards[moved], status=Status.TODO, before=target)
    assert "".join(column(company)) == order


def test_a_card_goes_to_a_place_in_another_column_with_all_that_follows(
    company: Company, owner: Person, cards: dict[str, Issue]
) -> None:
    done = build.issue(company, "Done before", status=Status.DONE)
    moved = move_issue(actor=owner, issue=cards["B"], status=Status.DONE, before=done)
    assert moved.closed_at is not None
    assert column(company, Status.DONE) == ["B", "Done before"]
    assert "".join(column(company)) == "ACD"


def test_a_new_card_stands_at_the_end_of_its_column(company: Company, cards: dict[str, Issue]) -> None:
    build.issue(company, "E")
    assert "".join(column(company)) == "ABCDE"


def test_a_column_without_gaps_is_spread_and_keeps_its_order(
    company: Company, owner: Person, cards: dict[str, Issue]
) -> None:
    """Moving between the same two cards halves the gap each time, until there is none."""
    last = cards["D"]
    for turn in range(40):
        moved = cards["AB"[turn % 2]]
        move_issue(actor=owner, issue=moved, status=Status.TODO, before=Issue.objects.get(pk=last.pk))
        order = column(company)
        assert (order[-2:], sorted(order)) == ([moved.title, "D"], list("ABCD"))


def test_cards_of_one_rank_are_told_apart(company: Company, owner: Person, cards: dict[str, Issue]) -> None:
    Issue.objects.update(rank=0)
    for moved, before, order in (("D", "B", "ADBC"), ("A", "C", "DBAC"), ("C", "D", "CDBA")):
        move_issue(actor=owner, issue=cards[moved], status=Status.TODO, before=Issue.objects.get(pk=cards[before].pk))
        assert "".join(column(company)) == order


def test_a_card_that_left_the_column_is_no_place(owner: Person, company: Company, cards: dict[str, Issue]) -> None:
    elsewhere = build.issue(company, status=Status.BACKLOG)
    foreign = build.issue(build.company_with_founder("OTHER")[0])
    for before in (elsewhere, foreign):
        with pytest.raises(Invalid, match="not in that column"):
            move_issue(actor=owner, issue=cards["A"], status=Status.TODO, before=before)
    assert "".join(column(company)) == "ABCD"


def test_a_place_it_has_already_is_no_move(owner: Person, cards: dict[str, Issue]) -> None:
    before = Activity.objects.count()
    move_issue(actor=owner, issue=cards["D"], status=Status.TODO)
    assert Activity.objects.count() == before


@pytest.mark.django_db(transaction=True)
def test_cards_moved_at_once_all_arrive(company: Company, owner: Person, cards: dict[str, Issue]) -> None:
    move = partial(move_issue, actor=owner, status=Status.DONE)
    outcomes = at_once([partial(move, issue=card) for card in cards.values()])
    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
    assert sorted(column(company, Status.DONE)) == list("ABCD")
    assert len(set(company.issues.values_list("rank", flat=True))) == 4
