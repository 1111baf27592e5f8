"""Identifiers: each company counts its issues without a gap, and never gives a number twice."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from issues.actors import Person
from issues.effects import unit
from issues.models import Company, Issue
from issues.refusals import Invalid
from issues.services.issues import create_issue, delete_issue
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


def numbers(company: Company) -> list[int]:
    return list(company.issues.order_by("pk").values_list("number", flat=True))


def test_each_company_counts_from_one(company: Company) -> None:
    other, _ = build.company_with_founder("OTHER")
    for _ in range(3):
        build.issue(company)
    assert [build.issue(other).identifier, build.issue(company).identifier] == ["OTHER-1", "ACME-4"]
    assert numbers(company) == [1, 2, 3, 4]


def test_an_issue_that_is_refused_takes_no_number(company: Company, owner: Person) -> None:
    with pytest.raises(Invalid):
        create_issue(actor=owner, company=company, title=" ")
    foreign = build.issue(build.company_with_founder("OTHER")[0])
    with pytest.raises(Invalid):  # refused after the number was taken
        create_issue(actor=owner, company=company, title="Waits", blockers=[foreign])
    assert build.issue(company).number == 1


def test_the_number_of_a_deleted_issue_is_not_given_again(company: Company, owner: Person) -> None:
    build.issue(company)
    delete_issue(actor=owner, issue=build.issue(company))
    assert build.issue(company).number == 3


@pytest.mark.django_db(transaction=True)
def test_many_at_once_of_which_some_are_rolled_back_leave_no_gap(company: Company, owner: Person) -> None:
    threads, each = 8, 6

    def open_and_fail() -> None:
        with unit():
            create_issue(actor=owner, company=company, title="Dropped")
            raise ZeroDivisionError

    def open_some(thread: int) -> None:
        for turn in range(each):
            if (thread + turn) % 3:
                create_issue(actor=owner, company=company, title="Kept")
            else:
                with pytest.raises(ZeroDivisionError):
                    open_and_fail()

    assert at_once([partial(open_some, thread) for thread in range(threads)]) == [None] * threads
    kept = threads * each - sum(1 for thread in range(threads) for turn in range(each) if not (thread + turn) % 3)
    assert sorted(numbers(company)) == list(range(1, kept + 1))
    company.refresh_from_db()
    assert company.last_issue_number == kept


@pytest.mark.django_db(transaction=True)
def test_two_companies_do_not_wait_for_each_other(company: Company, owner: Person) -> None:
    other, stranger = build.company_with_founder("OTHER")
    steps: list[Any] = [
        partial(create_issue, actor=actor, company=where, title="New")
        for actor, where in ((owner, company), (stranger, other))
        for _ in range(4)
    ]
    assert all(isinstance(outcome, Issue) for outcome in at_once(steps))
    assert sorted(numbers(company)) == sorted(numbers(other)) == [1, 2, 3, 4]
